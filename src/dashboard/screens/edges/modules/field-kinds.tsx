// The kinds of fields that forms of modules have: how each is read from what the API shows, drawn, checked and sent.

import type { ComponentChildren } from 'preact';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { KeyValueField, type KeyValuePair, pairsToRecord, recordToPairs } from '../../../ui/forms/key-value-field.tsx';
import { ListField, nonEmptyLines } from '../../../ui/forms/list-field.tsx';
import { NumberField } from '../../../ui/forms/number-field.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { type CreateForm, ReferenceField, ReferenceListField } from '../references/reference-field.tsx';
import type { ReferenceType } from '../references/references.ts';
import type { ModuleHost } from './hosts.ts';

/** A module as the API shows it, without `enabled`. */
export type ModuleSettings = Readonly<Record<string, unknown>>;

export interface ModuleField<Value = unknown> {
  /** The member of the input, as the API calls it. */
  name: string;
  /** What the field begins with; the settings are undefined as long as the module isn't set. */
  initialValue: (settings: ModuleSettings | undefined) => Value;
  /** What is sent; undefined is left out. */
  toInput: (value: Value) => unknown;
  render: (bound: FieldBinding<Value>, settings: ModuleSettings | undefined, host: ModuleHost) => ComponentChildren;
}

interface FieldLabels {
  label: string;
  help?: ComponentChildren;
}

/** Fields of many kinds stand in one list. A form keeps the value of each apart, and gives it to no other. */
export function moduleField<Value>(field: ModuleField<Value>): ModuleField {
  return field as unknown as ModuleField;
}

interface NumberFieldOptions extends FieldLabels {
  initial: number;
  min?: number;
  max?: number;
  unit?: string;
  isDecimal?: boolean;
}

/** The largest that the API takes. */
const UINT32_MAX = 4_294_967_295;

export function numberField(name: string, { initial, max = UINT32_MAX, ...props }: NumberFieldOptions): ModuleField {
  return moduleField<number | null>({
    name,
    initialValue: (settings) => Number(settings?.[name] ?? initial),
    toInput: (value) => value,
    render: (bound) => <NumberField {...bound} {...props} max={max} />,
  });
}

interface TextFieldOptions extends FieldLabels {
  initial: string;
  validate?: (value: string) => string | null;
}

export function textField(name: string, { initial, ...words }: TextFieldOptions): ModuleField {
  return moduleField<string>({
    name,
    initialValue: (settings) => String(settings?.[name] ?? initial),
    toInput: (value) => value.trim(),
    render: (bound) => <TextField {...bound} {...words} />,
  });
}

interface SelectFieldOptions extends FieldLabels {
  options: readonly { value: string; title: string }[];
}

/** One of a few; the first unless it is set. */
export function selectField(name: string, { options, ...words }: SelectFieldOptions): ModuleField {
  return moduleField<string>({
    name,
    initialValue: (settings) => String(settings?.[name] ?? options[0]?.value),
    toInput: (value) => value,
    render: (bound) => <SelectField {...bound} {...words} options={options} />,
  });
}

interface ListFieldOptions extends FieldLabels {
  itemName: string;
  maxLines: number;
  placeholder?: string;
  validateLine?: (line: string) => string | null;
}

export function listField(name: string, words: ListFieldOptions): ModuleField {
  return moduleField<readonly string[]>({
    name,
    initialValue: (settings) => stringList(settings?.[name]),
    toInput: nonEmptyLines,
    render: (bound) => <ListField {...bound} {...words} validate={maxLinesValidator(words.maxLines)} />,
  });
}

interface KeyValueFieldOptions extends FieldLabels {
  itemName: string;
  maxPairs: number;
  placeholders: readonly [string, string];
  validateName: (name: string) => string | null;
  validateValue: (value: string) => string | null;
}

export function keyValueField(name: string, words: KeyValueFieldOptions): ModuleField {
  return moduleField<readonly KeyValuePair[]>({
    name,
    // Only the API says what it is: values by names.
    initialValue: (settings) => recordToPairs((settings?.[name] ?? {}) as Record<string, string>),
    toInput: pairsToRecord,
    render: (bound) => <KeyValueField {...bound} {...words} />,
  });
}

interface ReferenceFieldOptions extends FieldLabels {
  type: ReferenceType;
  form: CreateForm;
  /** What the API calls what it tells, as it takes ids under another name. */
  shownAs: string;
}

export function referenceField(name: string, { shownAs, ...words }: ReferenceFieldOptions): ModuleField {
  return moduleField<string>({
    name,
    initialValue: (settings) => referenceIds(settings?.[shownAs])[0] ?? '',
    toInput: (id) => id,
    render: (bound) => <ReferenceField {...bound} {...words} />,
  });
}

export function referenceListField(
  name: string,
  { shownAs, ...words }: ReferenceFieldOptions & { maxItems: number },
): ModuleField {
  return moduleField<readonly string[]>({
    name,
    initialValue: (settings) => referenceIds(settings?.[shownAs]),
    toInput: (ids) => ids,
    render: (bound) => <ReferenceListField {...bound} {...words} />,
  });
}

/** The ids of a reference or of several. */
export function referenceIds(value: unknown): string[] {
  const refs = (Array.isArray(value) ? value : value ? [value] : []) as { id: string }[];
  return refs.map(({ id }) => id);
}

/** A list of texts. */
export function stringList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function maxLinesValidator(most: number) {
  return (values: readonly string[]) => (nonEmptyLines(values).length > most ? `At most ${most} are kept.` : null);
}

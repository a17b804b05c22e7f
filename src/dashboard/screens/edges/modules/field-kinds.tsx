// The kinds of fields in the forms of modules: each reads, renders, validates and submits one member.

import type { ComponentChildren } from 'preact';
import { CheckField, SelectField } from '../../../ui/forms/choice-fields.tsx';
import { KeyValueField, type KeyValuePair, pairsToRecord, recordToPairs } from '../../../ui/forms/key-value-field.tsx';
import { ListField, nonEmptyLines } from '../../../ui/forms/list-field.tsx';
import { NumberField } from '../../../ui/forms/number-field.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { type CreateForm, ReferenceField, ReferenceListField } from '../references/reference-field.tsx';
import type { ReferenceType } from '../references/references.ts';
import type { ModuleHost } from './hosts.ts';

/** The settings of a module in the API, without `enabled`. */
export type ModuleSettings = Readonly<Record<string, unknown>>;

export interface ModuleField<Value = unknown> {
  /** The name of the input member in the API. */
  name: string;
  /** The initial value of the field; `settings` is undefined if the module is not set. */
  initialValue: (settings: ModuleSettings | undefined) => Value;
  /** The value to send; undefined leaves the member out. */
  toInput: (value: Value) => unknown;
  /** Whether a value may have a secret in it, which no draft may keep. */
  holdsSecret?: (value: Value) => boolean;
  render: (bound: FieldBinding<Value>, settings: ModuleSettings | undefined, host: ModuleHost) => ComponentChildren;
}

interface FieldLabels {
  label: string;
  help?: ComponentChildren;
}

/** Erases the type of a field's value. A form passes each value only to the field that it belongs to. */
export function moduleField<Value>(field: ModuleField<Value>): ModuleField {
  return field as unknown as ModuleField;
}

interface NumberFieldOptions extends FieldLabels {
  /** Null: the field is empty; `placeholder` says what that means. */
  initial: number | null;
  placeholder?: string;
  min?: number;
  max?: number;
  unit?: string;
  isDecimal?: boolean;
}

/** Names of header fields whose values are secrets, as a rule. */
const SECRET_NAME = /auth|token|secret|key|cookie|password/i;

/** The maximum of UInt32 in the API. */
const UINT32_MAX = 4_294_967_295;

export function numberField(name: string, { initial, max = UINT32_MAX, ...props }: NumberFieldOptions): ModuleField {
  return moduleField<number | null>({
    name,
    initialValue: (settings) => (settings?.[name] as number | null | undefined) ?? initial,
    toInput: (value) => value,
    render: (bound) => <NumberField {...bound} {...props} max={max} />,
  });
}

interface TextFieldOptions extends FieldLabels {
  initial: string;
  placeholder?: string;
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

interface SecretFieldOptions extends FieldLabels {
  /** What is said where one is stored already. */
  storedHelp: string;
  validate?: (value: string) => string | null;
}

/** A secret, which nobody can read once it is set; left empty, the stored one stays. */
export function secretField(name: string, { storedHelp, help, ...words }: SecretFieldOptions): ModuleField {
  return moduleField<string>({
    name,
    initialValue: () => '',
    toInput: (value) => (value === '' ? undefined : value),
    holdsSecret: () => true,
    render: (bound, settings) => (
      <TextField
        {...bound}
        {...words}
        type="password"
        autoComplete="new-password"
        placeholder={settings ? 'stays as it is' : undefined}
        help={settings ? storedHelp : help}
      />
    ),
  });
}

/** A check box. */
export function flagField(name: string, { label }: { label: string }): ModuleField {
  return moduleField<boolean>({
    name,
    initialValue: (settings) => settings?.[name] === true,
    toInput: (value) => value,
    render: (bound) => <CheckField {...bound} label={label} />,
  });
}

interface SelectFieldOptions extends FieldLabels {
  options: readonly { value: string; title: string }[];
}

/** A select box; the default is the first option. */
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
    // The generated type is unknown; the API has an object of strings here.
    initialValue: (settings) => recordToPairs((settings?.[name] ?? {}) as Record<string, string>),
    toInput: pairsToRecord,
    holdsSecret: (pairs) => pairs.some(({ name }) => SECRET_NAME.test(name)),
    render: (bound) => <KeyValueField {...bound} {...words} />,
  });
}

interface ReferenceFieldOptions extends FieldLabels {
  type: ReferenceType;
  form: CreateForm;
  /** The member of the settings that has the references; the input has their ids under another name. */
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

/** The ids in a reference or a list of references. */
export function referenceIds(value: unknown): string[] {
  const refs = (Array.isArray(value) ? value : value ? [value] : []) as { id: string }[];
  return refs.map(({ id }) => id);
}

/** Converts a list of unknown values to strings. */
export function stringList(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function maxLinesValidator(most: number) {
  return (values: readonly string[]) => (nonEmptyLines(values).length > most ? `At most ${most} are kept.` : null);
}

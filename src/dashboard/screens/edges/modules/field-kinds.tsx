// The kinds of fields that forms of modules have: how each is read from what the API shows, drawn, checked and sent.

import type { ComponentChildren } from 'preact';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { KeyValueField, type KeyValuePair, pairsToRecord, recordToPairs } from '../../../ui/forms/key-value-field.tsx';
import { ListField, nonEmptyLines } from '../../../ui/forms/list-field.tsx';
import { NumberField } from '../../../ui/forms/number-field.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import type { FieldBinding } from '../../../ui/forms/use-form-fields.ts';
import { type NewThing, PickField, PicksField } from '../references/reference-field.tsx';
import type { Thing } from '../references/references.ts';
import type { Host } from './hosts.ts';

/** A module as the API shows it, without `enabled`. */
export type Settings = Readonly<Record<string, unknown>>;

export interface ModuleField<Value = unknown> {
  /** The member of the input, as the API calls it. */
  name: string;
  /** What the field begins with; the settings are undefined as long as the module isn't set. */
  read: (settings: Settings | undefined) => Value;
  /** What is sent; undefined is left out. */
  send: (value: Value) => unknown;
  draw: (bound: FieldBinding<Value>, settings: Settings | undefined, host: Host) => ComponentChildren;
}

interface Labels {
  label: string;
  help?: ComponentChildren;
}

/** Fields of many kinds stand in one list. A form keeps the value of each apart, and gives it to no other. */
export function moduleField<Value>(field: ModuleField<Value>): ModuleField {
  return field as unknown as ModuleField;
}

interface Numbers extends Labels {
  initial: number;
  min?: number;
  max?: number;
  unit?: string;
  isDecimal?: boolean;
}

/** The largest that the API takes. */
const UINT32_MAX = 4_294_967_295;

export function number(name: string, { initial, max = UINT32_MAX, ...words }: Numbers): ModuleField {
  return moduleField<number | null>({
    name,
    read: (settings) => Number(settings?.[name] ?? initial),
    send: (value) => value,
    draw: (bound) => <NumberField {...bound} {...words} max={max} />,
  });
}

interface Texts extends Labels {
  initial: string;
  validate?: (value: string) => string | null;
}

export function text(name: string, { initial, ...words }: Texts): ModuleField {
  return moduleField<string>({
    name,
    read: (settings) => String(settings?.[name] ?? initial),
    send: (value) => value.trim(),
    draw: (bound) => <TextField {...bound} {...words} />,
  });
}

interface Choices extends Labels {
  options: readonly { value: string; title: string }[];
}

/** One of a few; the first unless it is set. */
export function choice(name: string, { options, ...words }: Choices): ModuleField {
  return moduleField<string>({
    name,
    read: (settings) => String(settings?.[name] ?? options[0]?.value),
    send: (value) => value,
    draw: (bound) => <SelectField {...bound} {...words} options={options} />,
  });
}

interface Lines extends Labels {
  itemName: string;
  maxLines: number;
  placeholder?: string;
  validateLine?: (line: string) => string | null;
}

export function lines(name: string, words: Lines): ModuleField {
  return moduleField<readonly string[]>({
    name,
    read: (settings) => textsIn(settings?.[name]),
    send: nonEmptyLines,
    draw: (bound) => <ListField {...bound} {...words} validate={notMoreThan(words.maxLines)} />,
  });
}

interface Pairs extends Labels {
  itemName: string;
  maxPairs: number;
  placeholders: readonly [string, string];
  validateName: (name: string) => string | null;
  validateValue: (value: string) => string | null;
}

export function pairs(name: string, words: Pairs): ModuleField {
  return moduleField<readonly KeyValuePair[]>({
    name,
    // Only the API says what it is: values by names.
    read: (settings) => recordToPairs((settings?.[name] ?? {}) as Record<string, string>),
    send: pairsToRecord,
    draw: (bound) => <KeyValueField {...bound} {...words} />,
  });
}

interface Picks extends Labels {
  thing: Thing;
  form: NewThing;
  /** What the API calls what it tells, as it takes ids under another name. */
  shownAs: string;
}

export function pick(name: string, { shownAs, ...words }: Picks): ModuleField {
  return moduleField<string>({
    name,
    read: (settings) => idsIn(settings?.[shownAs])[0] ?? '',
    send: (id) => id,
    draw: (bound) => <PickField {...bound} {...words} />,
  });
}

export function picks(name: string, { shownAs, ...words }: Picks & { most: number }): ModuleField {
  return moduleField<readonly string[]>({
    name,
    read: (settings) => idsIn(settings?.[shownAs]),
    send: (ids) => ids,
    draw: (bound) => <PicksField {...bound} {...words} />,
  });
}

/** The ids of a reference or of several. */
export function idsIn(value: unknown): string[] {
  const refs = (Array.isArray(value) ? value : value ? [value] : []) as { id: string }[];
  return refs.map(({ id }) => id);
}

/** A list of texts. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function notMoreThan(most: number) {
  return (values: readonly string[]) => (nonEmptyLines(values).length > most ? `At most ${most} are kept.` : null);
}

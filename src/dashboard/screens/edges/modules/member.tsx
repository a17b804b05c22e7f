// The kinds of members that modules have: how each is read from what the API tells, shown, checked and sent.

import type { ComponentChildren } from 'preact';
import type { Bound } from '../../../data/use-fields.ts';
import { SelectField } from '../../../ui/choice-fields.tsx';
import { ListField, linesOf } from '../../../ui/list-field.tsx';
import { NumberField } from '../../../ui/number-field.tsx';
import { TextField } from '../../../ui/text-field.tsx';
import { type Pair, PairsField, pairsIn, recordOf } from '../pairs-field.tsx';
import { type NewThing, PickField, PicksField } from '../pick-field.tsx';
import type { Thing } from '../things.ts';
import type { Host } from './hosts.ts';

/** A module as the API tells it, without `enabled`. */
export type Settings = Readonly<Record<string, unknown>>;

export interface Member<Value = unknown> {
  /** In the input, as the API calls it. */
  name: string;
  /** What the field begins with; the settings are undefined as long as the module isn't set. */
  read: (settings: Settings | undefined) => Value;
  /** What is sent; undefined is left out. */
  send: (value: Value) => unknown;
  field: (bound: Bound<Value>, settings: Settings | undefined, host: Host) => ComponentChildren;
}

interface Words {
  label: string;
  help?: ComponentChildren;
}

/** Members of many kinds stand in one list. A form keeps the value of each apart, and gives it to nobody else. */
export function member<Value>(one: Member<Value>): Member {
  return one as unknown as Member;
}

interface Numbers extends Words {
  initial: number;
  min?: number;
  max?: number;
  unit?: string;
  isFraction?: boolean;
}

/** The largest that the API takes. */
const UINT32_MAX = 4_294_967_295;

export function number(name: string, { initial, max = UINT32_MAX, ...words }: Numbers): Member {
  return member<number | null>({
    name,
    read: (settings) => Number(settings?.[name] ?? initial),
    send: (value) => value,
    field: (bound) => <NumberField {...bound} {...words} max={max} />,
  });
}

interface Texts extends Words {
  initial: string;
  check?: (value: string) => string | null;
}

export function text(name: string, { initial, ...words }: Texts): Member {
  return member<string>({
    name,
    read: (settings) => String(settings?.[name] ?? initial),
    send: (value) => value.trim(),
    field: (bound) => <TextField {...bound} {...words} />,
  });
}

interface Choices extends Words {
  options: readonly { value: string; title: string }[];
}

/** One of a few; the first unless it is set. */
export function choice(name: string, { options, ...words }: Choices): Member {
  return member<string>({
    name,
    read: (settings) => String(settings?.[name] ?? options[0]?.value),
    send: (value) => value,
    field: (bound) => <SelectField {...bound} {...words} options={options} />,
  });
}

interface Lines extends Words {
  line: string;
  most: number;
  placeholder?: string;
  checkLine?: (line: string) => string | null;
}

export function lines(name: string, words: Lines): Member {
  return member<readonly string[]>({
    name,
    read: (settings) => textsIn(settings?.[name]),
    send: linesOf,
    field: (bound) => <ListField {...bound} {...words} check={notMoreThan(words.most)} />,
  });
}

interface Pairs extends Words {
  line: string;
  most: number;
  placeholders: readonly [string, string];
  checkName: (name: string) => string | null;
  checkValue: (value: string) => string | null;
}

export function pairs(name: string, words: Pairs): Member {
  return member<readonly Pair[]>({
    name,
    // Only the API says what it is: values by names.
    read: (settings) => pairsIn((settings?.[name] ?? {}) as Record<string, string>),
    send: recordOf,
    field: (bound) => <PairsField {...bound} {...words} />,
  });
}

interface Picks extends Words {
  thing: Thing;
  form: NewThing;
  /** What the API calls what it tells, as it takes ids under another name. */
  shownAs: string;
}

export function pick(name: string, { shownAs, ...words }: Picks): Member {
  return member<string>({
    name,
    read: (settings) => idsIn(settings?.[shownAs])[0] ?? '',
    send: (id) => id,
    field: (bound) => <PickField {...bound} {...words} />,
  });
}

export function picks(name: string, { shownAs, ...words }: Picks & { most: number }): Member {
  return member<readonly string[]>({
    name,
    read: (settings) => idsIn(settings?.[shownAs]),
    send: (ids) => ids,
    field: (bound) => <PicksField {...bound} {...words} />,
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
  return (values: readonly string[]) => (linesOf(values).length > most ? `At most ${most} are kept.` : null);
}

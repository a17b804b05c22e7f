// The state of the fields of a form: what was typed, kept as a draft, beside what the object has become meanwhile.

import { useEffect, useRef, useState } from 'preact/hooks';
import { refreshObjects } from '../../data/live/refresh.ts';
import { draftKey, keepDraft, readDraft } from '../../data/session/drafts.ts';
import { conflictsIn, type FieldChange, isDifferent, isSame, takeOver, type Versions } from './three-way.ts';

/** The props that connect a field with the state of its form. */
export interface FieldBinding<Value> {
  name: string;
  value: Value;
  onChange: (value: Value) => void;
}

/** What fields that are no single control are called, and their values in words. */
export type FieldWords<Values> = {
  [Name in keyof Values]?: { label: string; describe?: (value: Values[Name]) => string };
};

/** The part that a form needs, whatever its fields are. */
export interface FormState {
  /** Whether a value differs from that of the object. */
  isChanged: boolean;
  /** Whether the values are those of a draft. */
  isRestored: boolean;
  /** Fields that somebody else has changed as well. None may be saved before the user has decided. */
  conflicts: readonly FieldChange[];
  /** Fields that show somebody else's change. */
  taken: readonly FieldChange[];
  words: Readonly<Record<string, { label: string; describe?: (value: never) => string }>>;
  decide: (name: string, choice: 'mine' | 'theirs') => void;
  /** Goes back to the values of the object, and removes the draft. */
  discard: () => void;
  /** Asks for the object again, so that nothing is saved over a change that is on its way here. */
  refresh: () => Promise<void>;
}

export interface FormFields<Values> extends FormState {
  values: Values;
  /** The props of a field: `<TextField {...fields.bind('description')} label="Description" />`. */
  bind: <Name extends keyof Values & string>(name: Name) => FieldBinding<Values[Name]>;
  /** Changes several values at once. */
  set: (changes: Partial<Values>) => void;
  /** The values are stored: there is nothing left to lose. */
  saved: () => void;
}

export interface FormFieldsOptions<Values> {
  /** The name of the draft, with the id of the object: `credential cr_…`. Without it none is kept. */
  draft?: string;
  /** The part of the values that a draft may have: never a secret. The default is all of them. */
  storable?: (values: Values) => Partial<Values>;
  words?: FieldWords<Values>;
  /** The kind of the object that is changed; left out for a new one. */
  kind?: string;
}

interface State<Values> extends Versions<Values> {
  isRestored: boolean;
  /** The values of the object before it was saved, which are shown until it has been loaded again. */
  outdated?: Values;
}

/** @param current the values that the object has now. They may change while the form is open. */
export function useFormFields<Values extends object>(
  current: Values,
  { draft, storable = (values) => values, words = {}, kind }: FormFieldsOptions<Values> = {},
): FormFields<Values> {
  const [key] = useState(() => draft && draftKey(draft));
  const [state, setState] = useState<State<Values>>(() => restored(current, key));
  const latest = useRef(current);
  latest.current = current;
  const isOutdated = state.outdated !== undefined && isSame(state.outdated, current);
  const shown = isOutdated ? state : { ...state, ...takeOver(state, current) };
  const { base, mine } = shown;

  const change = (next: (last: State<Values>) => Partial<State<Values>>) =>
    setState((last) => {
      const isWaiting = last.outdated !== undefined && isSame(last.outdated, latest.current);
      const merged = isWaiting ? last : { ...last, ...takeOver(last, latest.current), outdated: undefined };
      return { ...merged, ...next(merged) };
    });
  const set = (changes: Partial<Values>) => change((last) => ({ mine: { ...last.mine, ...changes } }));

  useEffect(() => {
    if (state.outdated && !isOutdated) change(() => ({}));
  });
  useEffect(() => {
    if (!key) return;
    const values = storable(mine);
    keepDraft(key, isDifferent(values, base) ? { base: storable(base), values } : undefined);
  }, [key, base, mine]);

  return {
    values: mine,
    bind: (name) => ({
      name,
      value: mine[name],
      onChange: (value) => set({ [name]: value } as unknown as Partial<Values>),
    }),
    set,
    isChanged: isDifferent(mine, base),
    isRestored: state.isRestored,
    conflicts: isOutdated ? [] : conflictsIn(shown, current),
    taken: shown.taken,
    words: words as FormState['words'],
    decide: (name, choice) =>
      change(({ base, mine }) => {
        const theirs = { [name]: latest.current[name as keyof Values] };
        return { base: { ...base, ...theirs }, mine: choice === 'mine' ? mine : { ...mine, ...theirs } };
      }),
    discard: () => {
      if (key) keepDraft(key, undefined);
      setState({ base: latest.current, mine: latest.current, taken: [], isRestored: false });
    },
    saved: () => {
      if (key) keepDraft(key, undefined);
      setState((last) => ({
        base: last.mine,
        mine: last.mine,
        taken: [],
        isRestored: false,
        outdated: latest.current,
      }));
    },
    refresh: async () => {
      if (kind) await refreshObjects(kind);
    },
  };
}

/** The values of the object, or those of a draft that fits the form. */
function restored<Values extends object>(current: Values, key: string | undefined): State<Values> {
  const draft = key ? readDraft(key) : undefined;
  const isRestored = draft !== undefined;
  return {
    base: { ...current, ...fitting(draft?.base, current) },
    mine: { ...current, ...fitting(draft?.values, current) },
    taken: [],
    isRestored,
  };
}

/** The values whose type is still that of the form: the dashboard may have been updated since the draft was kept. */
function fitting<Values extends object>(values: object | undefined, current: Values): Partial<Values> {
  const known = Object.entries(values ?? {}).filter(([name, value]) => {
    const expected = current[name as keyof Values];
    if (value === null || expected === null) return name in current;
    return typeof value === typeof expected && Array.isArray(value) === Array.isArray(expected);
  });
  return Object.fromEntries(known) as Partial<Values>;
}

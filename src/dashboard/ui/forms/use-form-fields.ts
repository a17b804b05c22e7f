// What a form holds before it is sent.

import { useCallback, useState } from 'preact/hooks';

/** What every field takes to show a member and to change it. */
export interface Bound<Value> {
  name: string;
  value: Value;
  onChange: (value: Value) => void;
}

export interface Fields<Values> {
  values: Values;
  /** For a field: `<TextField {...fields.bind('description')} label="Description" />`. */
  bind: <Name extends keyof Values & string>(name: Name) => Bound<Values[Name]>;
  /** Changes some members. */
  set: (some: Partial<Values>) => void;
  /** Whether something differs from what it began with. */
  isChanged: boolean;
}

export function useFields<Values extends object>(initial: Values): Fields<Values> {
  const [first] = useState(initial);
  const [values, setValues] = useState(initial);
  const set = useCallback((some: Partial<Values>) => setValues((last) => ({ ...last, ...some })), []);
  const bind = <Name extends keyof Values & string>(name: Name) => ({
    name,
    value: values[name],
    onChange: (value: Values[Name]) => setValues((last) => ({ ...last, [name]: value })),
  });
  return { values, bind, set, isChanged: JSON.stringify(values) !== JSON.stringify(first) };
}

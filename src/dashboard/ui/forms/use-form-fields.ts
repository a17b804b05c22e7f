// What a form holds before it is sent.

import { useCallback, useState } from 'preact/hooks';

/** What every field takes to show a member and to change it. */
export interface FieldBinding<Value> {
  name: string;
  value: Value;
  onChange: (value: Value) => void;
}

export interface FormFields<Values> {
  values: Values;
  /** For a field: `<TextField {...fields.bind('description')} label="Description" />`. */
  bind: <Name extends keyof Values & string>(name: Name) => FieldBinding<Values[Name]>;
  /** Changes some members. */
  set: (changes: Partial<Values>) => void;
  /** Whether something differs from what it began with. */
  isChanged: boolean;
}

export function useFormFields<Values extends object>(initial: Values): FormFields<Values> {
  const [initialValues] = useState(initial);
  const [values, setValues] = useState(initial);
  const set = useCallback((changes: Partial<Values>) => setValues((last) => ({ ...last, ...changes })), []);
  const bind = <Name extends keyof Values & string>(name: Name) => ({
    name,
    value: values[name],
    onChange: (value: Values[Name]) => setValues((last) => ({ ...last, [name]: value })),
  });
  return { values, bind, set, isChanged: JSON.stringify(values) !== JSON.stringify(initialValues) };
}

// The state of the fields of a form.

import { useCallback, useState } from 'preact/hooks';

/** The props that connect a field with the state of its form. */
export interface FieldBinding<Value> {
  name: string;
  value: Value;
  onChange: (value: Value) => void;
}

export interface FormFields<Values> {
  values: Values;
  /** The props of a field: `<TextField {...fields.bind('description')} label="Description" />`. */
  bind: <Name extends keyof Values & string>(name: Name) => FieldBinding<Values[Name]>;
  /** Changes several values at once. */
  set: (changes: Partial<Values>) => void;
  /** Whether a value differs from its initial one. */
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

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useFieldError } from './form.tsx';

/** What all fields take. `check` tells in words what is wrong with a value, or null. */
export interface FieldProps<Value> {
  /** The member of the input, as the API names it: its failures are shown here. */
  name: string;
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  help?: ComponentChildren;
  validate?: (value: Value) => string | null;
  isDisabled?: boolean;
}

/** What ties a control to its label, help and error. */
export interface ControlProps {
  id: string;
  name: string;
  disabled: boolean | undefined;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
  onBlur: () => void;
}

interface FieldLayoutProps<Value> extends FieldProps<Value> {
  /** A check box stands before its label. */
  isInline?: boolean;
  children: (control: ControlProps) => ComponentChildren;
}

/** A label, a control, its help, and what is wrong with it. The other fields are made of it. */
export function Field<Value>(props: FieldLayoutProps<Value>) {
  const { name, label, value, help, validate, isDisabled, isInline, children } = props;
  const id = useId();
  const { fieldError, onBlur } = useFieldError(name, value, validate);
  const describedBy = [help && `${id}-help`, fieldError && `${id}-error`].filter(Boolean).join(' ');
  const control = children({
    id,
    name,
    disabled: isDisabled,
    'aria-describedby': describedBy || undefined,
    'aria-invalid': fieldError ? true : undefined,
    onBlur,
  });
  return (
    <div class={isInline ? 'field inline' : 'field'}>
      {isInline && control}
      <label for={id}>{label}</label>
      {!isInline && control}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {fieldError && (
        <p class="mistake" id={`${id}-error`} role="alert">
          {fieldError}
        </p>
      )}
    </div>
  );
}

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useMistake } from './form.tsx';

/** What all fields take. `check` tells in words what is wrong with a value, or null. */
export interface FieldProps<Value> {
  /** The member of the input, as the API names it: its failures are shown here. */
  name: string;
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  help?: ComponentChildren;
  check?: (value: Value) => string | null;
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

interface FieldFrameProps<Value> extends FieldProps<Value> {
  /** A check box stands before its label. */
  isInline?: boolean;
  children: (control: ControlProps) => ComponentChildren;
}

/** A label, a control, its help, and what is wrong with it. The other fields are made of it. */
export function Field<Value>(props: FieldFrameProps<Value>) {
  const { name, label, value, help, check, isDisabled, isInline, children } = props;
  const id = useId();
  const { mistake, onBlur } = useMistake(name, value, check);
  const described = [help && `${id}-help`, mistake && `${id}-error`].filter(Boolean).join(' ');
  const control = children({
    id,
    name,
    disabled: isDisabled,
    'aria-describedby': described || undefined,
    'aria-invalid': mistake ? true : undefined,
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
      {mistake && (
        <p class="mistake" id={`${id}-error`} role="alert">
          {mistake}
        </p>
      )}
    </div>
  );
}

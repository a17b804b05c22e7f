import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { hiddenCharacters } from '../text/visible-text.ts';
import { useFieldError } from './form-context.ts';

/** The props of all fields. `validate` returns an error message, or null for a valid value. */
export interface FieldProps<Value> {
  /** The name of the input member in the API: errors of the API about it are shown here. */
  name: string;
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  help?: ComponentChildren;
  validate?: (value: Value) => string | null;
  isDisabled?: boolean;
}

/** The attributes that connect a control with its label, help text and error. */
export interface ControlProps {
  id: string;
  name: string;
  disabled: boolean | undefined;
  'aria-describedby': string | undefined;
  'aria-invalid': boolean | undefined;
  onBlur: () => void;
}

interface FieldLayoutProps<Value> extends FieldProps<Value> {
  /** Puts the control before its label, as for a checkbox. */
  isInline?: boolean;
  /** A value in words, where the value itself says little. */
  describe?: (value: Value) => string;
  children: (control: ControlProps) => ComponentChildren;
}

/** The layout of every field: label, control, help text and error. */
export function Field<Value>(props: FieldLayoutProps<Value>) {
  const { name, label, value, help, validate, isDisabled, isInline, describe, children } = props;
  const id = useId();
  const { fieldError, onBlur } = useFieldError(name, value, validate, { label, describe });
  const hidden = typeof value === 'string' ? hiddenCharacters(value) : [];
  const describedBy = [help && `${id}-help`, hidden.length > 0 && `${id}-hidden`, fieldError && `${id}-error`]
    .filter(Boolean)
    .join(' ');
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
      {hidden.length > 0 && (
        <p class="field-hint" id={`${id}-hidden`} role="status">
          This has characters that cannot be seen: {hidden.join(', ')}.
        </p>
      )}
      {fieldError && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {fieldError}
        </p>
      )}
    </div>
  );
}

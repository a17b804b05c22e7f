import { Field, type FieldProps } from './field.tsx';

export interface TextFieldProps extends FieldProps<string> {
  type?: 'text' | 'email' | 'password' | 'url' | 'search' | 'datetime-local';
  placeholder?: string;
  /** The autofill hint: `username`, `current-password`, … */
  autoComplete?: string;
  /** Uses a monospaced font. */
  isCode?: boolean;
}

/** A single-line text input. */
export function TextField({ type = 'text', placeholder, autoComplete = 'off', isCode, ...field }: TextFieldProps) {
  return (
    <Field {...field}>
      {(control) => (
        <input
          {...control}
          type={type as 'text'}
          class={isCode ? 'code' : undefined}
          value={field.value}
          placeholder={placeholder}
          autoComplete={autoComplete}
          autoCapitalize="off"
          spellcheck={false}
          onInput={(event) => field.onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface TextAreaProps extends FieldProps<string> {
  rows?: number;
  placeholder?: string;
  isCode?: boolean;
}

/** A multi-line text input. */
export function TextArea({ rows = 4, placeholder, isCode, ...field }: TextAreaProps) {
  return (
    <Field {...field}>
      {(control) => (
        <textarea
          {...control}
          class={isCode ? 'code' : undefined}
          rows={rows}
          placeholder={placeholder}
          spellcheck={false}
          value={field.value}
          onInput={(event) => field.onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

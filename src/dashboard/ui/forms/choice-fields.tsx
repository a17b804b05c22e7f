import { Field, type FieldProps } from './field.tsx';

export interface Option {
  value: string;
  title: string;
}

export interface SelectFieldProps extends FieldProps<string> {
  options: readonly Option[];
}

/** A select box. */
export function SelectField({ options, ...field }: SelectFieldProps) {
  return (
    <Field {...field} describe={(chosen) => options.find(({ value }) => value === chosen)?.title ?? chosen}>
      {(control) => (
        <select {...control} value={field.value} onChange={(event) => field.onChange(event.currentTarget.value)}>
          {options.map(({ value, title }) => (
            <option key={value} value={value} selected={value === field.value}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A checkbox. */
export function CheckField(field: FieldProps<boolean>) {
  return (
    <Field {...field} isInline>
      {(control) => (
        <input
          {...control}
          type="checkbox"
          checked={field.value}
          onChange={(event) => field.onChange(event.currentTarget.checked)}
        />
      )}
    </Field>
  );
}

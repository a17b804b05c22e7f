import { useState } from 'preact/hooks';
import { Field, type FieldProps } from './field.tsx';

export interface NumberFieldProps extends FieldProps<number | null> {
  /** The unit, shown after the input. */
  unit?: string;
  min?: number;
  max?: number;
  /** Allows decimal fractions. */
  isDecimal?: boolean;
  /** Makes the field optional, and says what an empty one means. */
  placeholder?: string;
}

/** A number input; the value is null while it is empty and NaN while the text is no number. */
export function NumberField({ unit, min, max, isDecimal = false, placeholder, validate, ...field }: NumberFieldProps) {
  const [text, setText] = useState(field.value === null ? '' : String(field.value));
  const displayed = isSameNumber(text, field.value) ? text : field.value === null ? '' : String(field.value);

  function validateNumber(value: number | null): string | null {
    if (value === null) return placeholder === undefined ? 'A number is needed.' : null;
    if (Number.isNaN(value)) return 'This isn’t a number.';
    if (!isDecimal && !Number.isInteger(value)) return 'This must be a whole number.';
    if (min !== undefined && value < min) return `This must be at least ${min}.`;
    if (max !== undefined && value > max) return `This must be at most ${max}.`;
    return validate?.(value) ?? null;
  }

  return (
    <Field {...field} validate={validateNumber}>
      {(control) => (
        <span class="with-unit">
          <input
            {...control}
            type="text"
            inputMode={isDecimal ? 'decimal' : 'numeric'}
            class="short"
            value={displayed}
            placeholder={placeholder}
            autoComplete="off"
            onInput={(event) => {
              const typed = event.currentTarget.value;
              setText(typed);
              field.onChange(parseNumber(typed));
            }}
          />
          {unit && <span class="unit">{unit}</span>}
        </span>
      )}
    </Field>
  );
}

function parseNumber(text: string): number | null {
  return text.trim() === '' ? null : Number(text.trim().replace(',', '.'));
}

function isSameNumber(text: string, value: number | null): boolean {
  return Object.is(parseNumber(text), value);
}

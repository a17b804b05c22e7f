import { useState } from 'preact/hooks';
import { type ControlProps, Field, type FieldProps } from './field.tsx';

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

interface NumberInputProps extends Partial<ControlProps> {
  value: number | null;
  onChange: (value: number | null) => void;
  isDecimal?: boolean;
  placeholder?: string;
  /** The name of an input that has no label of its own. */
  'aria-label'?: string;
}

/** The input of a number alone; the value is null while it is empty and NaN while the text is no number. */
export function NumberInput({ value, onChange, isDecimal = false, ...control }: NumberInputProps) {
  const [text, setText] = useState(value === null ? '' : String(value));
  const displayed = isSameNumber(text, value) ? text : value === null ? '' : String(value);
  return (
    <input
      {...control}
      type="text"
      inputMode={isDecimal ? 'decimal' : 'numeric'}
      class="short"
      value={displayed}
      autoComplete="off"
      onInput={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        onChange(parseNumber(typed));
      }}
    />
  );
}

/** What is wrong with the number in an input; null if nothing is. */
export function numberProblem(
  value: number | null,
  { min, max, isDecimal = false, placeholder }: Pick<NumberFieldProps, 'min' | 'max' | 'isDecimal' | 'placeholder'>,
): string | null {
  if (value === null) return placeholder === undefined ? 'A number is needed.' : null;
  if (Number.isNaN(value)) return 'This isn’t a number.';
  if (!isDecimal && !Number.isInteger(value)) return 'This must be a whole number.';
  if (min !== undefined && value < min) return `This must be at least ${min}.`;
  return max !== undefined && value > max ? `This must be at most ${max}.` : null;
}

/** A number input with its label; the value is as that of `NumberInput`. */
export function NumberField({ unit, min, max, isDecimal, placeholder, validate, ...field }: NumberFieldProps) {
  const { value, onChange } = field;
  const validateNumber = (number: number | null) =>
    numberProblem(number, { min, max, isDecimal, placeholder }) ?? validate?.(number) ?? null;
  return (
    <Field {...field} validate={validateNumber}>
      {(control) => (
        <span class="with-unit">
          <NumberInput {...control} {...{ value, onChange, isDecimal, placeholder }} />
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

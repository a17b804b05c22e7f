import { useEffect, useId, useRef } from 'preact/hooks';
import type { FieldProps } from './field.tsx';
import { useFieldError } from './form-context.ts';

export interface ListFieldProps extends FieldProps<readonly string[]> {
  /** What one item is called: `rule`. */
  itemName: string;
  placeholder?: string;
  /** Validates one line. */
  validateLine?: (itemName: string) => string | null;
  /** A hint below a line, for example its meaning. */
  hintFor?: (itemName: string, index: number) => string | null | undefined;
  maxLines?: number;
}

/** A list of text inputs. The caller drops empty lines with `nonEmptyLines`. */
export function ListField(props: ListFieldProps) {
  const {
    name,
    label,
    value,
    onChange,
    help,
    itemName,
    placeholder,
    validateLine,
    validate,
    hintFor,
    maxLines = 100,
    isDisabled,
  } = props;
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const focusIndex = useRef<number | undefined>(undefined);
  const lineError = (text: string) => (text.trim() === '' ? null : (validateLine?.(text) ?? null));
  const { fieldError, onBlur } = useFieldError(name, value, linesError, { label });

  function linesError(lines: readonly string[]): string | null {
    const firstInvalid = lines.findIndex((text) => lineError(text) !== null);
    return firstInvalid < 0
      ? (validate?.(lines) ?? null)
      : `Line ${firstInvalid + 1}: ${lineError(lines[firstInvalid] ?? '')}`;
  }

  useEffect(() => {
    if (focusIndex.current === undefined) return;
    group.current?.querySelectorAll('input')[focusIndex.current]?.focus();
    focusIndex.current = undefined;
  });

  function add() {
    focusIndex.current = value.length;
    onChange([...value, '']);
  }

  return (
    <fieldset
      ref={group}
      class="field list"
      aria-describedby={describedByIds(id, help, fieldError)}
      disabled={isDisabled}
    >
      <legend>{label}</legend>
      {value.map((text, index) => (
        <div key={index} class="line">
          <input
            type="text"
            class="code"
            value={text}
            placeholder={placeholder}
            aria-label={`${itemName} ${index + 1}`}
            aria-invalid={fieldError && (lineError(text) || (index === 0 && !value.some(lineError))) ? true : undefined}
            aria-describedby={fieldError ? `${id}-meaning-${index} ${id}-error` : `${id}-meaning-${index}`}
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            onBlur={onBlur}
            onInput={(event) => onChange(value.with(index, event.currentTarget.value))}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || index < value.length - 1 || text === '') return;
              event.preventDefault();
              if (value.length < maxLines) add();
            }}
          />
          <RemoveButton label={`Remove ${itemName} ${index + 1}`} onClick={() => onChange(value.toSpliced(index, 1))} />
          <p class="help" id={`${id}-meaning-${index}`}>
            {hintFor?.(text, index)}
          </p>
        </div>
      ))}
      <button
        type="button"
        class="button"
        aria-disabled={value.length >= maxLines}
        onClick={() => value.length < maxLines && add()}
      >
        Add {/^[aeiou]/i.test(itemName) ? 'an' : 'a'} {itemName}
      </button>
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {fieldError && (
        <p class="field-error" id={`${id}-error`} role="alert">
          {fieldError}
        </p>
      )}
    </fieldset>
  );
}

/** The lines that are not empty, trimmed. */
export function nonEmptyLines(lines: readonly string[]): string[] {
  return lines.map((itemName) => itemName.trim()).filter((itemName) => itemName !== '');
}

function describedByIds(id: string, help: unknown, fieldError: string | null): string | undefined {
  return [help && `${id}-help`, fieldError && `${id}-error`].filter(Boolean).join(' ') || undefined;
}

/** A button that removes an item. @param label the accessible name, which names the item. */
export function RemoveButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" class="button plain" aria-label={label} onClick={onClick}>
      ✕
    </button>
  );
}

// A list of names with values, for example labels or header fields.

import { useEffect, useId, useRef } from 'preact/hooks';
import type { FieldProps } from './field.tsx';
import { useFieldError } from './form-context.ts';
import { RemoveButton } from './list-field.tsx';

export interface KeyValuePair {
  name: string;
  value: string;
}

type Validator = (text: string) => string | null;

interface KeyValueFieldProps extends FieldProps<readonly KeyValuePair[]> {
  /** What one item is called: `label`. */
  itemName: string;
  /** The labels of the two inputs of an item. */
  titles?: readonly [string, string];
  placeholders?: readonly [string, string];
  /** Validators of names and values. Without `allowsDuplicates`, a repeated name is an error as well. */
  validateName?: Validator;
  validateValue?: Validator;
  allowsDuplicates?: boolean;
  maxPairs?: number;
}

export function KeyValueField(props: KeyValueFieldProps) {
  const { name, label, value, onChange, help, itemName, validate, maxPairs = 50 } = props;
  const { titles = ['Name', 'Value'], placeholders = ['', ''] } = props;
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const isAdded = useRef(false);
  const { fieldError, onBlur } = useFieldError(
    name,
    value,
    (pairs) => pairError(pairs, props) ?? validate?.(pairs) ?? null,
    { label },
  );
  useEffect(() => {
    if (isAdded.current) group.current?.querySelector<HTMLElement>('.pair:last-of-type input')?.focus();
    isAdded.current = false;
  });

  function change(index: number, changes: Partial<KeyValuePair>) {
    onChange(value.map((pair, place) => (place === index ? { ...pair, ...changes } : pair)));
  }

  const describedBy = [help && `${id}-help`, fieldError && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <fieldset ref={group} class="field list" aria-describedby={describedBy}>
      <legend>{label}</legend>
      {value.map((pair, index) => (
        <div key={index} class="pair">
          {(['name', 'value'] as const).map((part, place) => (
            <input
              key={part}
              type="text"
              class="code"
              value={pair[part]}
              placeholder={placeholders[place]}
              aria-label={`${titles[place]} of ${itemName} ${index + 1}`}
              aria-invalid={(fieldError && pairError([pair], props) !== null) || undefined}
              autoComplete="off"
              autoCapitalize="off"
              spellcheck={false}
              onBlur={onBlur}
              onInput={(event) => change(index, { [part]: event.currentTarget.value })}
            />
          ))}
          <RemoveButton label={`Remove ${itemName} ${index + 1}`} onClick={() => onChange(value.toSpliced(index, 1))} />
        </div>
      ))}
      <button
        type="button"
        class="button"
        aria-disabled={value.length >= maxPairs}
        onClick={() => {
          if (value.length >= maxPairs) return;
          isAdded.current = true;
          onChange([...value, { name: '', value: '' }]);
        }}
      >
        Add a {itemName}
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

function pairError(
  pairs: readonly KeyValuePair[],
  { validateName, validateValue, allowsDuplicates, titles = ['Name', 'Value'] }: KeyValueFieldProps,
) {
  const filled = nonEmptyPairs(pairs);
  const names = filled.map(({ name }) => name.toLowerCase());
  for (const { name, value } of filled) {
    if (name === '') return `${value}: a ${titles[0].toLowerCase()} is needed before it.`;
    const fieldError = validateName?.(name) ?? validateValue?.(value);
    if (fieldError) return `${name}: ${fieldError}`;
    if (!allowsDuplicates && names.indexOf(name.toLowerCase()) !== names.lastIndexOf(name.toLowerCase()))
      return `${name} stands twice.`;
  }
  return null;
}

/** The pairs that are not empty, trimmed. */
export function nonEmptyPairs(pairs: readonly KeyValuePair[]): KeyValuePair[] {
  return pairs
    .map(({ name, value }) => ({ name: name.trim(), value: value.trim() }))
    .filter(({ name, value }) => name !== '' || value !== '');
}

/** The pairs as an object, the form in which the API has labels and header fields. */
export function pairsToRecord(pairs: readonly KeyValuePair[]): Record<string, string> {
  return Object.fromEntries(nonEmptyPairs(pairs).map(({ name, value }) => [name, value]));
}

export function recordToPairs(record: Record<string, string>): KeyValuePair[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}

// Lines of a name and a value: labels, header fields.

import { useEffect, useId, useRef } from 'preact/hooks';
import type { FieldProps } from './field.tsx';
import { useMistake } from './form.tsx';
import { RemoveButton } from './list-field.tsx';

export interface Pair {
  name: string;
  value: string;
}

type Check = (text: string) => string | null;

interface PairsFieldProps extends FieldProps<readonly Pair[]> {
  /** What one line is called: `label`. */
  line: string;
  /** What the two fields of a line are called. */
  titles?: readonly [string, string];
  placeholders?: readonly [string, string];
  /** What is wrong with a name or a value. A name that stands twice is wrong by itself unless `mayRepeat`. */
  checkName?: Check;
  checkValue?: Check;
  mayRepeat?: boolean;
  most?: number;
}

export function PairsField(props: PairsFieldProps) {
  const { name, label, value, onChange, help, line, check, most = 50 } = props;
  const { titles = ['Name', 'Value'], placeholders = ['', ''] } = props;
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const isAdded = useRef(false);
  const { mistake, onBlur } = useMistake(name, value, (pairs) => wrongPair(pairs, props) ?? check?.(pairs) ?? null);
  useEffect(() => {
    if (isAdded.current) group.current?.querySelector<HTMLElement>('.pair:last-of-type input')?.focus();
    isAdded.current = false;
  });

  function change(index: number, some: Partial<Pair>) {
    onChange(value.map((pair, place) => (place === index ? { ...pair, ...some } : pair)));
  }

  const described = [help && `${id}-help`, mistake && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <fieldset ref={group} class="field list" aria-describedby={described}>
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
              aria-label={`${titles[place]} of ${line} ${index + 1}`}
              aria-invalid={(mistake && wrongPair([pair], props) !== null) || undefined}
              autoComplete="off"
              autoCapitalize="off"
              spellcheck={false}
              onBlur={onBlur}
              onInput={(event) => change(index, { [part]: event.currentTarget.value })}
            />
          ))}
          <RemoveButton label={`Remove ${line} ${index + 1}`} onClick={() => onChange(value.toSpliced(index, 1))} />
        </div>
      ))}
      <button
        type="button"
        class="button"
        aria-disabled={value.length >= most}
        onClick={() => {
          if (value.length >= most) return;
          isAdded.current = true;
          onChange([...value, { name: '', value: '' }]);
        }}
      >
        Add a {line}
      </button>
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
    </fieldset>
  );
}

function wrongPair(
  pairs: readonly Pair[],
  { checkName, checkValue, mayRepeat, titles = ['Name', 'Value'] }: PairsFieldProps,
) {
  const said = pairsOf(pairs);
  const names = said.map(({ name }) => name.toLowerCase());
  for (const { name, value } of said) {
    if (name === '') return `${value}: a ${titles[0].toLowerCase()} is needed before it.`;
    const mistake = checkName?.(name) ?? checkValue?.(value);
    if (mistake) return `${name}: ${mistake}`;
    if (!mayRepeat && names.indexOf(name.toLowerCase()) !== names.lastIndexOf(name.toLowerCase()))
      return `${name} stands twice.`;
  }
  return null;
}

/** The lines that say something, without blanks around them. */
export function pairsOf(pairs: readonly Pair[]): Pair[] {
  return pairs
    .map(({ name, value }) => ({ name: name.trim(), value: value.trim() }))
    .filter(({ name, value }) => name !== '' || value !== '');
}

/** As the API has labels and header fields. */
export function recordOf(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(pairsOf(pairs).map(({ name, value }) => [name, value]));
}

export function pairsIn(record: Record<string, string>): Pair[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}

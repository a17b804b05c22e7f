import { useEffect, useId, useRef } from 'preact/hooks';
import type { FieldProps } from './field.tsx';
import { useMistake } from './form.tsx';

export interface ListFieldProps extends FieldProps<readonly string[]> {
  /** What one line is called: `rule`. */
  line: string;
  placeholder?: string;
  /** Tells in words what is wrong with one line, or null. */
  checkLine?: (line: string) => string | null;
  /** What is said below a line: what it means. */
  meaning?: (line: string, index: number) => string | null | undefined;
  most?: number;
}

/** Lines that are added and removed. Empty ones are the caller's to leave out (`linesOf`). */
export function ListField(props: ListFieldProps) {
  const {
    name,
    label,
    value,
    onChange,
    help,
    line,
    placeholder,
    checkLine,
    check,
    meaning,
    most = 100,
    isDisabled,
  } = props;
  const id = useId();
  const group = useRef<HTMLFieldSetElement>(null);
  const added = useRef<number | undefined>(undefined);
  const wrong = (text: string) => (text.trim() === '' ? null : (checkLine?.(text) ?? null));
  const { mistake, onBlur } = useMistake(name, value, (lines) => {
    const broken = lines.findIndex((text) => wrong(text) !== null);
    return broken < 0 ? (check?.(lines) ?? null) : `Line ${broken + 1}: ${wrong(lines[broken] ?? '')}`;
  });
  useEffect(() => {
    if (added.current === undefined) return;
    group.current?.querySelectorAll('input')[added.current]?.focus();
    added.current = undefined;
  });

  function add() {
    added.current = value.length;
    onChange([...value, '']);
  }

  return (
    <fieldset ref={group} class="field list" aria-describedby={described(id, help, mistake)} disabled={isDisabled}>
      <legend>{label}</legend>
      {value.map((text, index) => (
        <div key={index} class="line">
          <input
            type="text"
            class="code"
            value={text}
            placeholder={placeholder}
            aria-label={`${line} ${index + 1}`}
            aria-invalid={mistake && (wrong(text) || (index === 0 && !value.some(wrong))) ? true : undefined}
            aria-describedby={mistake ? `${id}-meaning-${index} ${id}-error` : `${id}-meaning-${index}`}
            autoComplete="off"
            autoCapitalize="off"
            spellcheck={false}
            onBlur={onBlur}
            onInput={(event) => onChange(value.with(index, event.currentTarget.value))}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || index < value.length - 1 || text === '') return;
              event.preventDefault();
              if (value.length < most) add();
            }}
          />
          <RemoveButton label={`Remove ${line} ${index + 1}`} onClick={() => onChange(value.toSpliced(index, 1))} />
          <p class="help" id={`${id}-meaning-${index}`}>
            {meaning?.(text, index)}
          </p>
        </div>
      ))}
      <button
        type="button"
        class="button"
        aria-disabled={value.length >= most}
        onClick={() => value.length < most && add()}
      >
        Add {/^[aeiou]/i.test(line) ? 'an' : 'a'} {line}
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

/** The lines that say something, without blanks around them: what is sent. */
export function linesOf(lines: readonly string[]): string[] {
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

function described(id: string, help: unknown, mistake: string | null): string | undefined {
  return [help && `${id}-help`, mistake && `${id}-error`].filter(Boolean).join(' ') || undefined;
}

/** Takes one line out of a list. @param label names the line for people who do not see the button. */
export function RemoveButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button type="button" class="button plain" aria-label={label} onClick={onClick}>
      ✕
    </button>
  );
}

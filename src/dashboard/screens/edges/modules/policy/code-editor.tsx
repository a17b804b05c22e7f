// A text area with line numbers.

import type { Ref } from 'preact';
import { useImperativeHandle, useRef } from 'preact/hooks';
import { Field, type FieldProps } from '../../../../ui/forms/field.tsx';

export interface CodeEditorHandle {
  /** Scrolls to a line, counted from 1, and selects it. */
  goTo: (line: number) => void;
}

interface CodeEditorProps extends FieldProps<string> {
  /** The lines with problems, counted from 1. */
  marked?: ReadonlySet<number>;
  placeholder?: string;
  rows?: { min: number; max: number };
  handle?: Ref<CodeEditorHandle>;
}

const NONE: ReadonlySet<number> = new Set();

export function CodeEditor({
  marked = NONE,
  placeholder,
  rows = { min: 12, max: 28 },
  handle,
  ...field
}: CodeEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const lines = field.value.split('\n');
  const shown = Math.min(rows.max, Math.max(rows.min, lines.length + 1));

  useImperativeHandle(handle ?? null, () => ({
    goTo(line: number) {
      const element = area.current;
      if (!element) return;
      const before = element.value
        .split('\n')
        .slice(0, line - 1)
        .join('\n');
      const from = before.length + (line > 1 ? 1 : 0);
      const end = element.value.indexOf('\n', from);
      element.focus();
      element.setSelectionRange(from, end < 0 ? element.value.length : end);
      element.scrollTop = (line - 3) * Number.parseFloat(getComputedStyle(element).lineHeight);
    },
  }));

  return (
    <Field {...field}>
      {(control) => (
        <div class="code-editor">
          <div ref={gutter} class="gutter" aria-hidden="true">
            {lines.map((_, index) => (
              <span key={index} class={marked.has(index + 1) ? 'marked' : undefined}>
                {index + 1}
              </span>
            ))}
          </div>
          <textarea
            {...control}
            ref={area}
            class="code"
            rows={shown}
            wrap="off"
            placeholder={placeholder}
            autoCapitalize="off"
            autoComplete="off"
            spellcheck={false}
            value={field.value}
            onInput={(event) => field.onChange(event.currentTarget.value)}
            onScroll={(event) => gutter.current?.scrollTo({ top: event.currentTarget.scrollTop })}
          />
        </div>
      )}
    </Field>
  );
}

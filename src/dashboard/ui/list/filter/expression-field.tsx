import { useId, useState } from 'preact/hooks';
import { Button } from '../../button.tsx';
import type { Member } from './operators.ts';

interface ExpressionFieldProps {
  filter: string;
  members: readonly Member[];
  /** What the API says of it. */
  error: string | undefined;
  onChange: (filter: string) => void;
}

/** The filter as text, for what chips cannot say. */
export function ExpressionField({ filter, members, error, onChange }: ExpressionFieldProps) {
  const id = useId();
  const [text, setText] = useState(filter);
  return (
    <form
      class="expression"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <label for={id}>Filter in CEL</label>
      <textarea
        id={id}
        class="code"
        rows={2}
        value={text}
        spellcheck={false}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? `${id}-error ${id}-help` : `${id}-help`}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey) return;
          event.preventDefault();
          onChange(text.trim());
        }}
      />
      {error && (
        <p id={`${id}-error`} class="field-error" role="alert">
          {error}
        </p>
      )}
      <p id={`${id}-help`} class="help">
        Compare members of <code>obj</code> with constants, joined by <code>&amp;&amp;</code> and <code>||</code>:{' '}
        {members.map(({ name }) => name).join(', ')}.
      </p>
      <div>
        <Button type="submit">Apply</Button>
      </div>
    </form>
  );
}

// What a form says above its buttons: that a draft was restored, what somebody else has changed, what hides in a text.

import { useState } from 'preact/hooks';
import { Button } from '../button.tsx';
import { Note } from '../feedback/note.tsx';
import type { FieldEntry } from './form-context.ts';
import type { FieldChange } from './three-way.ts';
import type { FormState } from './use-form-fields.ts';

interface FormNoticesProps {
  fields: FormState;
  entries: ReadonlyMap<string, FieldEntry>;
}

const MAX_SHOWN_LENGTH = 2000;

export function FormNotices({ fields, entries }: FormNoticesProps) {
  const { isChanged, isRestored, conflicts, taken, words, decide, discard } = fields;
  const wordsOf = (name: string): ShownWords =>
    ({ label: name, ...entryOf(entries, name), ...words[name] }) as ShownWords;
  return (
    <>
      {isRestored && isChanged && (
        <div class="note info draft" role="status">
          <p>What you typed here before was restored, without secrets.</p>
          <Button onClick={discard}>Discard the draft</Button>
        </div>
      )}
      {isChanged && taken.length > 0 && (
        <Note>
          Somebody else has changed this meanwhile. Shown above, because you had not touched it:{' '}
          {taken.map(({ name }) => wordsOf(name).label).join(', ')}.
        </Note>
      )}
      {conflicts.length > 0 && (
        <div class="note warn conflicts" role="alert">
          <p>Somebody else has changed the same as you. Nothing is saved until you have decided:</p>
          {conflicts.map((change) => (
            <Conflict key={change.name} change={change} words={wordsOf(change.name)} decide={decide} />
          ))}
        </div>
      )}
    </>
  );
}

interface ShownWords {
  label: string;
  describe?: (value: unknown) => string;
}

interface ConflictProps {
  change: FieldChange;
  words: ShownWords;
  decide: FormState['decide'];
}

function Conflict({ change: { name, before, mine, theirs }, words, decide }: ConflictProps) {
  const { label, describe } = words;
  const versions = [
    ['Before', before],
    ['Yours', mine],
    ['Theirs', theirs],
  ] as const;
  return (
    <section class="conflict" aria-label={label}>
      <h3>{label}</h3>
      <dl>
        {versions.map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>
              <ConflictValue text={describe ? describe(value) : inWords(value)} />
            </dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <Button onClick={() => decide(name, 'mine')} label={`Keep mine: ${label}`}>
          Keep mine
        </Button>
        <Button onClick={() => decide(name, 'theirs')} label={`Take theirs: ${label}`}>
          Take theirs
        </Button>
      </div>
    </section>
  );
}

function ConflictValue({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text === '') return <span class="muted">nothing</span>;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keyboard, too */}
      <pre class="user-text" tabIndex={0}>
        {isWhole ? text : text.slice(0, MAX_SHOWN_LENGTH)}
      </pre>
      {!isWhole && text.length > MAX_SHOWN_LENGTH && <Button onClick={() => setWhole(true)}>Show all of it</Button>}
    </>
  );
}

/** A form may name a field by its path in the API: `trafficPolicy.value` for the value `value`. */
function entryOf(entries: ReadonlyMap<string, FieldEntry>, name: string): FieldEntry | undefined {
  return entries.get(name) ?? [...entries].find(([path]) => path.endsWith(`.${name}`))?.[1];
}

function inWords(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((item) => inWords(item)).join('\n');
  if (typeof value !== 'object') return String(value);
  return Object.values(value)
    .map((part) => inWords(part))
    .filter(Boolean)
    .join(': ');
}

// The result of a dry run, rule by rule.

import type { TryPolicyQuery } from '../../../../generated/operations.ts';
import { Note } from '../../../../ui/feedback/note.tsx';
import { Tag, type TagProps } from '../../../../ui/feedback/tag.tsx';
import { Outcome } from './outcome.tsx';

type Evaluation = NonNullable<TryPolicyQuery['evaluatePolicy']>;
type Rule = Evaluation['rules'][number];

const PHASES = {
  ON_TCP_CONNECT: 'When the connection is accepted',
  ON_HTTP_REQUEST: 'Before the upstream is asked',
  ON_HTTP_RESPONSE: 'When there is an answer',
};

const STATES: Record<Rule['state'], { variant: TagProps['variant']; word: string }> = {
  MATCHED: { variant: 'good', word: 'matched' },
  UNMATCHED: { variant: 'plain', word: 'does not match' },
  UNREACHED: { variant: 'plain', word: 'not reached' },
  FAILED: { variant: 'bad', word: 'failed' },
};

export function Explanation({ evaluation: { problems, rules, notes, outcome } }: { evaluation: Evaluation }) {
  if (problems.length > 0) {
    return (
      <Note variant="warn">
        <div>
          <p>The policy can’t be used, so nothing was run:</p>
          <ul class="problems">
            {problems.map(({ path, message }, index) => (
              <li key={index}>
                <span>
                  <code>{path || 'the document'}</code> {message}
                </span>
              </li>
            ))}
          </ul>
        </div>
      </Note>
    );
  }
  return (
    <div class="explanation">
      <h3>Step by step</h3>
      {rules.length === 0 && <p class="muted">There is no rule that could do anything.</p>}
      <ol class="steps">
        {rules.map((rule) => (
          <Step key={`${rule.phase} ${rule.index}`} rule={rule} />
        ))}
      </ol>
      {notes.length > 0 && (
        <>
          <h3>Written into the log</h3>
          {notes.map((note, index) => (
            <pre key={index}>{JSON.stringify(note, null, 2)}</pre>
          ))}
        </>
      )}
      {outcome && <Outcome outcome={outcome} />}
    </div>
  );
}

function Step({ rule: { phase, index, name, state, expressions, actions } }: { rule: Rule }) {
  const { variant, word } = STATES[state];
  return (
    <li class={state.toLowerCase()}>
      <p>
        <strong>{name ?? `Rule ${index + 1}`}</strong> <Tag variant={variant}>{word}</Tag>{' '}
        <span class="muted">
          {PHASES[phase]}, <code>{`${phase.toLowerCase()}[${index}]`}</code>
        </span>
      </p>
      {state !== 'UNREACHED' && expressions.length === 0 && (
        <p class="muted">It has no conditions: it always matches.</p>
      )}
      {expressions.length > 0 && (
        <ul>
          {expressions.map(({ text, value, error }) => (
            <li key={text}>
              <code>{text}</code> {describeValue(value, error)}
            </li>
          ))}
        </ul>
      )}
      {actions.map(({ type, effects, error, result }, place) => (
        <div key={place} class="action">
          <p>
            <code>{type}</code>
            {error && <span class="field-error"> failed: {error}</span>}
          </p>
          {effects.length > 0 && (
            <ul>
              {effects.map((effect) => (
                <li key={effect}>{effect}</li>
              ))}
            </ul>
          )}
          {result !== null && (
            <details>
              <summary>What later expressions see of it</summary>
              <pre>{JSON.stringify(result, null, 2)}</pre>
            </details>
          )}
        </div>
      ))}
    </li>
  );
}

function describeValue(value: unknown, error: string | null) {
  if (error) return <span class="field-error">failed: {error}</span>;
  if (value === null) return <span class="muted">was not looked at</span>;
  if (value === true) return <span class="holds">holds</span>;
  return value === false ? <span class="muted">does not hold</span> : <span>gave {JSON.stringify(value)}</span>;
}

// The outcome of a dry run for the request.

import type { TryPolicyQuery } from '../../../../generated/operations.ts';
import { Note } from '../../../../ui/feedback/note.tsx';

type Outcome = NonNullable<NonNullable<TryPolicyQuery['evaluatePolicy']>['outcome']>;

const KINDS: Record<Outcome['kind'], { variant: 'good' | 'warn' | 'info'; text: string }> = {
  FORWARDED: { variant: 'good', text: 'It goes on to the upstream.' },
  ANSWERED: { variant: 'info', text: 'The policy answers it by itself.' },
  REFUSED: { variant: 'warn', text: 'The visitor is turned away.' },
  CLOSED: { variant: 'warn', text: 'The connection is closed without an answer.' },
};

export function Outcome({ outcome: { kind, reason, request, response } }: { outcome: Outcome }) {
  const { variant, text } = KINDS[kind];
  return (
    <>
      <h3>What becomes of it</h3>
      <Note variant={variant}>
        <p>
          <strong>{text}</strong> {reason && <span>In the log: {reason}.</span>}
        </p>
      </Note>
      {request && (
        <Message
          title={request.internal ? `What the internal endpoint ${request.internal} gets` : 'What the upstream gets'}
          first={`${request.method} ${request.url}`}
          headers={request.headers}
          body={null}
        />
      )}
      {response && (
        <Message
          title="What the visitor gets"
          first={`${response.status}${response.error ? ` ${response.error}` : ''}`}
          headers={response.headers}
          body={response.body}
        />
      )}
    </>
  );
}

interface MessageProps {
  title: string;
  first: string;
  headers: readonly { name: string; value: string }[];
  body: string | null;
}

function Message({ title, first, headers, body }: MessageProps) {
  const lines = [first, ...headers.map(({ name, value }) => `${name}: ${value}`), ...(body ? ['', body] : [])];
  return (
    <figure class="message">
      <figcaption>{title}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be scrolled by keyboard, too */}
      <pre tabIndex={0}>{lines.join('\n')}</pre>
    </figure>
  );
}

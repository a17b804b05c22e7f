import type { ApiFailure } from '../../data/client/client.ts';
import { Button } from '../button.tsx';

export interface ErrorNoteProps {
  error: ApiFailure | undefined | null;
  /** Shows a button that tries again. */
  retry?: () => void;
}

/** Codes whose details only the gateway's log has. */
const LOGGED = new Set(['INTERNAL', 'UNAVAILABLE']);

/** Shows the message of an error; nothing if there is none. */
export function ErrorNote({ error, retry }: ErrorNoteProps) {
  if (!error) return null;
  return (
    <div class="note error" role="alert">
      <p>
        {error.message}
        {error.retryAfter !== undefined && ` It can be tried again in ${error.retryAfter} s.`}
        {error.operationId && LOGGED.has(error.code) && (
          <>
            {' '}
            <small>
              In the gateway’s log: <code>{error.operationId}</code>
            </small>
          </>
        )}
      </p>
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

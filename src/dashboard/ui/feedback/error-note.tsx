import type { ApiFailure } from '../../data/client/client.ts';
import { Button } from '../button.tsx';

export interface ErrorNoteProps {
  error: ApiFailure | undefined | null;
  /** Tries again. */
  retry?: () => void;
}

/** What only the gateway's log explains further. */
const LOGGED = new Set(['INTERNAL', 'UNAVAILABLE']);

/** Why something failed, in the gateway's own words. Nothing where nothing failed. */
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

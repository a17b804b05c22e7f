// How far a bulk change is, what refused, and its undo.

import { useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { kindOf, objectPath } from '../../../data/routing/paths.ts';
import {
  BulkJobProgress,
  type BulkJobProgressQuery,
  CancelBulkJob,
  UndoBulkJob,
} from '../../../generated/operations.ts';
import { Button } from '../../button.tsx';
import { ErrorNote } from '../../feedback/error-note.tsx';
import { Skeleton } from '../../feedback/skeleton.tsx';
import { isOver, stateTitle } from './job-words.tsx';
import { newIdempotencyKey } from './target.ts';

/** The change feed tells of a job; this is for a feed that is interrupted. */
const POLL_MS = 2000;

type Job = NonNullable<BulkJobProgressQuery['bulkJob']>;

interface JobProgressProps {
  id: string;
  /** Closes the dialog that shows it; left out on a page. */
  onClose?: () => void;
}

export function JobProgress({ id, onClose }: JobProgressProps) {
  const { route } = useLocation();
  const { data, error, refetch } = useQuery(BulkJobProgress, { id }, { kinds: ['bulkJob'], pollMs: POLL_MS });
  const cancel = useMutation(CancelBulkJob);
  const undo = useMutation(UndoBulkJob);
  const undoKey = useRef(newIdempotencyKey());
  const job = data?.bulkJob;
  if (!job) return error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />;
  const isRunning = !isOver(job.state);

  async function startUndo() {
    const made = (await undo.mutate({ id, idempotencyKey: undoKey.current }))?.undoBulkJob?.bulkJob;
    if (!made) return;
    onClose?.();
    route(objectPath('bulkJob', made.id));
  }

  return (
    <div class="job">
      <p role="status">
        {stateTitle(job.state)}: {countsText(job)}
      </p>
      <progress aria-label="Progress" value={finishedOf(job)} max={Math.max(1, job.total)} />
      <ErrorNote error={cancel.error ?? undo.error} />
      <Failures job={job} />
      <div class="form-footer">
        {onClose && (
          <Button variant="primary" onClick={onClose}>
            Close
          </Button>
        )}
        {isRunning && (
          <Button isBusy={cancel.isBusy} onClick={() => void cancel.mutate({ id }).then(refetch)}>
            Stop after what is done
          </Button>
        )}
        {!isRunning && job.isUndoable && (
          <Button isBusy={undo.isBusy} onClick={() => void startUndo()}>
            Undo
          </Button>
        )}
        {onClose && <a href={objectPath('bulkJob', id)}>Page of this change</a>}
      </div>
    </div>
  );
}

function Failures({
  job: {
    failures: { nodes: failures },
    failed,
  },
}: {
  job: Job;
}) {
  if (failures.length === 0) return null;
  return (
    <section aria-label="What failed">
      <h3>What failed</h3>
      <ul class="job-failures">
        {failures.map(({ objectId, message }) => {
          const kind = kindOf(objectId);
          return (
            <li key={objectId}>
              {kind ? <a href={objectPath(kind, objectId)}>{objectId}</a> : <code>{objectId}</code>} {message}
            </li>
          );
        })}
      </ul>
      {failed > failures.length && <p class="muted">And {(failed - failures.length).toLocaleString('en')} more.</p>}
    </section>
  );
}

function finishedOf({ done, failed, skipped }: Job): number {
  return done + failed + skipped;
}

/** `118 of 1,234 done, 2 failed` */
function countsText({ total, done, failed, skipped }: Job): string {
  const number = (count: number) => count.toLocaleString('en');
  return [
    `${number(done)} of ${number(total)} done`,
    failed > 0 && `${number(failed)} failed`,
    skipped > 0 && `${number(skipped)} skipped`,
  ]
    .filter(Boolean)
    .join(', ');
}

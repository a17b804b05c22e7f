import { useRef, useState } from 'preact/hooks';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { StartBulkJob, type StartBulkJobMutationVariables } from '../../../generated/operations.ts';
import { ConfirmDialog } from '../../dialogs/confirm-dialog.tsx';
import { Dialog } from '../../dialogs/dialog.tsx';
import { toast } from '../../feedback/toast.tsx';
import { ChangeLabelsForm } from './change-labels-form.tsx';
import { ChangeOwnerForm } from './change-owner-form.tsx';
import { JobProgress } from './job-progress.tsx';
import { type ActionInput, type BulkAction, type BulkTarget, countNouns, newIdempotencyKey } from './target.ts';

interface BulkDialogProps {
  target: BulkTarget;
  action: BulkAction;
  nouns: readonly [one: string, many: string];
  /** What the rows have in common, if they are all that match. */
  filter: string;
  consequence: string | undefined;
  onStarted: () => void;
  onClose: () => void;
}

type Input = StartBulkJobMutationVariables['input'];

/** Asks what to do with many objects, starts the job, and shows its progress. */
export function BulkDialog({ target, action, nouns, filter, consequence, onStarted, onClose }: BulkDialogProps) {
  // The selection is cleared once the job has begun; the dialog goes on to speak of what it was.
  const [{ list, count, objects }] = useState(target);
  const [jobId, setJobId] = useState<string>();
  const start = useMutation(StartBulkJob);
  const begin = useIdempotencyKey();
  const what = countNouns(count, nouns);

  async function send(own: ActionInput = {}) {
    const input: Input = { list, ...objects, action, ...own, expectedCount: count };
    const job = (await start.mutate({ input, idempotencyKey: begin(input) }))?.startBulkJob?.bulkJob;
    if (!job) return;
    setJobId(job.id);
    onStarted();
  }

  function close() {
    if (jobId)
      toast('The change goes on without this dialog.', {
        link: { title: 'Progress', href: objectPath('bulkJob', jobId) },
      });
    onClose();
  }

  if (jobId) {
    return (
      <Dialog title={progressTitle(action, what)} onClose={close}>
        <JobProgress id={jobId} onClose={onClose} />
      </Dialog>
    );
  }
  const scope =
    'ids' in objects ? null : (
      <p>
        {filter ? (
          <>
            All that match <code>{filter}</code>.
          </>
        ) : (
          'All there are.'
        )}
      </p>
    );
  const props = { error: start.error, isBusy: start.isBusy, onClose };
  if (action === 'DELETE') {
    return (
      <ConfirmDialog
        {...props}
        title={`Delete ${what}?`}
        typeToConfirm={count > 1 ? String(count) : undefined}
        confirmLabel={`Delete ${what}`}
        onConfirm={() => void send()}
      >
        {scope}
        <p>{consequence} What is in use stays, and is listed with the reason. Deleting can’t be undone.</p>
      </ConfirmDialog>
    );
  }
  return (
    <Dialog
      title={action === 'CHANGE_OWNER' ? `Who is to hold ${what}?` : `Change the labels of ${what}`}
      onClose={onClose}
    >
      {scope}
      {action === 'CHANGE_OWNER' ? (
        <ChangeOwnerForm {...props} onSubmit={(own) => void send(own)} />
      ) : (
        <ChangeLabelsForm {...props} onSubmit={(own) => void send(own)} />
      )}
    </Dialog>
  );
}

/** A request that is repeated has the same key; one for something else has another. */
function useIdempotencyKey(): (input: Input) => string {
  const last = useRef({ input: '', key: '' });
  return (input) => {
    const text = JSON.stringify(input);
    if (last.current.input !== text) last.current = { input: text, key: newIdempotencyKey() };
    return last.current.key;
  };
}

function progressTitle(action: BulkAction, what: string): string {
  if (action === 'DELETE') return `Deleting ${what}`;
  return action === 'CHANGE_OWNER' ? `Changing who holds ${what}` : `Changing the labels of ${what}`;
}

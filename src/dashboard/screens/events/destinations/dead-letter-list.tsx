// The dead letters of a destination: events that it refused for good.

import { useEffect, useRef, useState } from 'preact/hooks';
import { useList } from '../../../data/hooks/use-list.ts';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import {
  DiscardEventDeadLetters,
  EventDeadLetters,
  type EventDeadLettersQuery,
  RetryEventDeadLetters,
} from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { deadLetterPath } from '../navigation.ts';

type Row = NonNullable<EventDeadLettersQuery['eventDeadLetters']>['nodes'][number];

interface DeadLetterListProps {
  destinationId: string;
  /** The number of dead letters. When it changes the list is loaded again. */
  count: number;
}

export function DeadLetterList({ destinationId, count }: DeadLetterListProps) {
  const list = useList(EventDeadLetters, { destinationId }, (result) => result.eventDeadLetters);
  const retry = useMutation(RetryEventDeadLetters);
  const [isConfirming, setConfirming] = useState(false);
  const lastCount = useRef(count);
  useEffect(() => {
    if (lastCount.current !== count) list.refetch();
    lastCount.current = count;
  }, [count]);

  async function retryAll() {
    const result = await retry.mutate({ destinationId });
    if (!result?.retryEventDeadLetters?.retried) return;
    toast(`${countDeadLetters(result.retryEventDeadLetters.retried.count)} sent once more.`);
    list.refetch();
  }

  const actions = count > 0 && (
    <>
      <Button onClick={() => void retryAll()} isBusy={retry.isBusy}>
        Send all once more
      </Button>
      <Button onClick={() => setConfirming(true)}>Discard all</Button>
    </>
  );
  return (
    <Section
      title="Dead letters"
      lead="Events that the target refused for good. The newest 10,000 are kept, for 14 days."
      actions={actions}
    >
      <ErrorNote error={retry.error} />
      <Table
        label="Dead letters"
        columns={columns}
        list={list}
        href={({ id }) => deadLetterPath(destinationId, id)}
        empty={<p class="muted">None: the target has refused nothing.</p>}
      />
      {isConfirming && (
        <DiscardAllDialog
          destinationId={destinationId}
          count={count}
          onDone={() => {
            setConfirming(false);
            list.refetch();
          }}
          onClose={() => setConfirming(false)}
        />
      )}
    </Section>
  );
}

const columns: Column<Row>[] = [
  { key: 'type', title: 'Event', width: '3fr', cell: ({ eventType }) => eventType },
  { key: 'code', title: 'Why', width: '9rem', cell: ({ errorCode }) => errorCode },
  { key: 'message', title: 'In words', width: '3fr', cell: ({ errorMessage }) => errorMessage, priority: 2 },
  { key: 'at', title: 'Refused', width: '7rem', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
];

interface DiscardAllDialogProps {
  destinationId: string;
  count: number;
  onDone: () => void;
  onClose: () => void;
}

function DiscardAllDialog({ destinationId, count, onDone, onClose }: DiscardAllDialogProps) {
  const discard = useMutation(DiscardEventDeadLetters);
  return (
    <ConfirmDialog
      title="Discard all dead letters?"
      typeToConfirm="discard"
      confirmLabel="Discard all"
      error={discard.error}
      isBusy={discard.isBusy}
      onConfirm={async () => {
        const result = await discard.mutate({ destinationId });
        if (!result?.discardEventDeadLetters?.discarded) return;
        toast(`${countDeadLetters(result.discardEventDeadLetters.discarded.count)} discarded.`);
        onDone();
      }}
      onClose={onClose}
    >
      <p>{countDeadLetters(count)} and the events in them are thrown away. Nobody can bring them back.</p>
    </ConfirmDialog>
  );
}

function countDeadLetters(count: number): string {
  return count === 1 ? '1 dead letter' : `${count.toLocaleString('en')} dead letters`;
}

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { type BrowserSessionsQuery, EndBrowserSession } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { describeBrowser } from './browser-name.ts';

type Row = NonNullable<BrowserSessionsQuery['browserSessions']>[number];

const columnsWith = (end: (row: Row) => void): Column<Row>[] => [
  {
    key: 'browser',
    title: 'Browser',
    width: '2fr',
    cell: ({ userAgent, isThis }) => (
      <span title={userAgent}>
        {describeBrowser(userAgent)} {isThis && <Tag variant="good">this one</Tag>}
      </span>
    ),
  },
  { key: 'ip', title: 'Address', width: '1fr', cell: ({ ip }) => <code>{ip}</code> },
  {
    key: 'used',
    isLabelled: true,
    title: 'Last used',
    width: '8rem',
    cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} />,
  },
  {
    key: 'created',
    isLabelled: true,
    title: 'Signed in',
    width: '8rem',
    priority: 2,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
  {
    key: 'expires',
    isLabelled: true,
    title: 'Ends',
    width: '8rem',
    priority: 3,
    cell: ({ expiresAt }) => <RelativeTime at={expiresAt} />,
  },
  {
    key: 'end',
    title: '',
    width: '6rem',
    // This one is signed out in the menu.
    cell: (row) =>
      !row.isThis && (
        <Button
          variant="plain"
          label={`Sign out ${describeBrowser(row.userAgent)} at ${row.ip}`}
          onClick={() => end(row)}
        >
          Sign out
        </Button>
      ),
  },
];

interface SessionTableProps {
  rows: Row[];
  empty?: ComponentChildren;
  /** Called when a session was ended. */
  onEnded(): void;
}

/** Browser sessions, each of which can be signed out. */
export function SessionTable({ rows, empty, onEnded }: SessionTableProps) {
  const { mutate, error, isBusy } = useMutation(EndBrowserSession);
  const [ending, setEnding] = useState<Row>();

  async function end({ id, userAgent }: Row) {
    if (!(await mutate({ id }))) return;
    setEnding(undefined);
    toast(`${describeBrowser(userAgent)} is signed out.`);
    onEnded();
  }

  return (
    <>
      <Table label="Browser sessions" columns={columnsWith(setEnding)} rows={rows} empty={empty} />
      {ending && (
        <ConfirmDialog
          title={`Sign out ${describeBrowser(ending.userAgent)}?`}
          confirmLabel="Sign out"
          error={error}
          isBusy={isBusy}
          onConfirm={() => void end(ending)}
          onClose={() => setEnding(undefined)}
        >
          <p>
            The browser at <code>{ending.ip}</code> is signed out at once. The others stay signed in.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

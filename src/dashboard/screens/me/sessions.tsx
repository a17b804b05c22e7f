import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { loadViewer } from '../../data/session/session.ts';
import { BrowserSessions, type BrowserSessionsQuery, SignOutEverywhere } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { describeBrowser } from './browser-name.ts';

type Row = NonNullable<BrowserSessionsQuery['browserSessions']>[number];

const columns: Column<Row>[] = [
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
  { key: 'used', title: 'Last used', width: '8rem', cell: ({ lastUsedAt }) => <RelativeTime at={lastUsedAt} /> },
  {
    key: 'created',
    title: 'Signed in',
    width: '8rem',
    priority: 2,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
  {
    key: 'expires',
    title: 'Ends',
    width: '8rem',
    priority: 3,
    cell: ({ expiresAt }) => <RelativeTime at={expiresAt} />,
  },
];

/** The browser sessions of the viewer. */
export function OwnSessions() {
  const { data, error, refetch } = useQuery(BrowserSessions, {}, { pollMs: 30_000 });
  const everywhere = useMutation(SignOutEverywhere);
  const [isConfirming, setConfirming] = useState(false);

  async function signOutEverywhere() {
    if (await everywhere.mutate({})) await loadViewer();
  }

  return (
    <Section
      title="Where you are signed in"
      actions={<Button onClick={() => setConfirming(true)}>Sign out everywhere</Button>}
      lead="A session ends 12 hours after it was last used, and after 30 days at the latest."
    >
      <ErrorNote error={error} retry={refetch} />
      {data ? (
        <Table label="Browser sessions" columns={columns} rows={data.browserSessions ?? []} />
      ) : (
        !error && <Skeleton />
      )}
      {isConfirming && (
        <ConfirmDialog
          title="Sign out everywhere?"
          confirmLabel="Sign out everywhere"
          error={everywhere.error}
          isBusy={everywhere.isBusy}
          onConfirm={() => void signOutEverywhere()}
          onClose={() => setConfirming(false)}
        >
          <p>Every browser in which you are signed in is signed out at once, this one too. API keys keep working.</p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

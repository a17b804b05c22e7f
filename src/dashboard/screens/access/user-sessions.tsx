import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { loadViewer } from '../../data/session/session.ts';
import { SignOutEverywhere, UserSessions, type UserSessionsQuery } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { describeBrowser } from '../me/browser-name.ts';

/** The change feed has no events for browser sessions, so they are polled. */
const SESSIONS_POLL_MS = 15_000;

type Row = NonNullable<UserSessionsQuery['browserSessions']>[number];

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
];

interface UserSessionsSectionProps {
  userId: string;
  email: string;
  isYou: boolean;
}

/** The browser sessions of a user, for admins. */
export function UserSessionsSection({ userId, email, isYou }: UserSessionsSectionProps) {
  const { data, error, refetch } = useQuery(UserSessions, { userId }, { kinds: ['user'], pollMs: SESSIONS_POLL_MS });
  const everywhere = useMutation(SignOutEverywhere);
  const [isConfirming, setConfirming] = useState(false);
  const rows = data?.browserSessions ?? [];

  async function signOut() {
    const result = await everywhere.mutate({ userId });
    if (!result) return;
    setConfirming(false);
    if (isYou) return loadViewer();
    toast(`${email} is signed out everywhere.`);
    void refetch();
  }

  return (
    <Section
      title="Browsers"
      actions={rows.length > 0 && <Button onClick={() => setConfirming(true)}>Sign out everywhere</Button>}
    >
      <ErrorNote error={error} retry={() => void refetch()} />
      {data ? (
        <Table
          label="Browser sessions"
          columns={columns}
          rows={rows}
          empty={<p class="muted">The user is signed in nowhere.</p>}
        />
      ) : (
        !error && <Skeleton />
      )}
      {isConfirming && (
        <ConfirmDialog
          title={`Sign ${email} out everywhere?`}
          confirmLabel="Sign out everywhere"
          error={everywhere.error}
          isBusy={everywhere.isBusy}
          onConfirm={() => void signOut()}
          onClose={() => setConfirming(false)}
        >
          <p>
            Every browser in which {isYou ? 'you are' : 'the user is'} signed in is signed out at once
            {isYou && ', this one too'}. API keys keep working.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { loadViewer } from '../../data/session/session.ts';
import { SignOutEverywhere, UserSessions } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { SessionTable } from '../me/session-table.tsx';

/** The change feed has no events for browser sessions, so they are polled. */
const SESSIONS_POLL_MS = 15_000;

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
        <SessionTable
          rows={rows}
          empty={<p class="muted">The user is signed in nowhere.</p>}
          onEnded={() => void refetch()}
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

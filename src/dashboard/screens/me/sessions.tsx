import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { loadViewer } from '../../data/session/session.ts';
import { BrowserSessions, SignOutEverywhere } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { SessionTable } from './session-table.tsx';

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
        <SessionTable rows={data.browserSessions ?? []} onEnded={() => void refetch()} />
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

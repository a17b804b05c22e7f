// The replacement of an authtoken: for a while, the one before is accepted, too.

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { type CredentialQuery, FinishRotation, RotateCredential } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { OneTimeSecret } from '../../ui/layout/one-time-secret.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { StartCommand } from './start-command.tsx';

type Shown = NonNullable<CredentialQuery['credential']>;

const OVERLAPS = [
  { value: '0', title: 'Not at all: it has leaked' },
  { value: '3600', title: 'For an hour' },
  { value: '86400', title: 'For a day' },
  { value: '604800', title: 'For a week' },
  { value: '2592000', title: 'For 30 days' },
];

export function RotationSection({ credential }: { credential: Shown }) {
  const { rotation, acl, openSessions } = credential;
  const [dialog, setDialog] = useState<'rotate' | 'finish'>();
  const [token, setToken] = useState<string>();
  const close = () => setDialog(undefined);
  return (
    <Section
      title="Its authtoken"
      actions={
        rotation ? (
          <Button onClick={() => setDialog('finish')}>Refuse the old one now</Button>
        ) : (
          <Button onClick={() => setDialog('rotate')}>Replace it</Button>
        )
      }
    >
      {token && (
        <OneTimeSecret name="authtoken" secret={token} onDismiss={() => setToken(undefined)}>
          <StartCommand token={token} acl={acl} />
        </OneTimeSecret>
      )}
      {rotation ? <Overlap rotation={rotation} /> : <p>Only its digest is kept. It is valid until it is replaced.</p>}
      {dialog === 'rotate' && (
        <RotateDialog id={credential.id} sessions={openSessions} onToken={setToken} onClose={close} />
      )}
      {dialog === 'finish' && rotation && (
        <FinishDialog id={credential.id} sessions={rotation.previousSessions} onClose={close} />
      )}
    </Section>
  );
}

function Overlap({ rotation }: { rotation: NonNullable<Shown['rotation']> }) {
  const { previousValidUntil, previousLastUsedAt, previousSessions, previousAgents } = rotation;
  return (
    <Note variant={previousAgents > 0 ? 'warn' : undefined}>
      <p>
        The old authtoken is accepted for <RelativeTime at={previousValidUntil} as="until" /> more.{' '}
        {previousAgents === 0
          ? 'No agent has it any more.'
          : `${previousAgents} ${previousAgents === 1 ? 'agent connected' : 'agents connected'} with it last; ${previousSessions} of their sessions are open now.`}{' '}
        {previousLastUsedAt && (
          <>
            It was used last <RelativeTime at={previousLastUsedAt} />.
          </>
        )}
      </p>
    </Note>
  );
}

interface RotateDialogProps {
  id: string;
  sessions: number;
  onToken: (token: string) => void;
  onClose: () => void;
}

function RotateDialog({ id, sessions, onToken, onClose }: RotateDialogProps) {
  const rotate = useMutation(RotateCredential);
  const { bind, values } = useFormFields({ overlap: '86400' });
  async function confirmed() {
    const token = (await rotate.mutate({ id, overlapSeconds: Number(values.overlap) }))?.rotateCredential?.token;
    if (!token) return;
    onToken(token);
    onClose();
  }
  return (
    <ConfirmDialog
      title="Replace the authtoken?"
      confirmLabel="Make a new authtoken"
      error={rotate.error}
      isBusy={rotate.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>The new one is shown once. Give it to the agents before the old one ends.</p>
      <SelectField {...bind('overlap')} label="How long the old one is accepted" options={OVERLAPS} />
      {values.overlap === '0' && sessions > 0 && (
        <p>Its {sessions === 1 ? 'session ends' : `${sessions} sessions end`} at once.</p>
      )}
    </ConfirmDialog>
  );
}

function FinishDialog({ id, sessions, onClose }: { id: string; sessions: number; onClose: () => void }) {
  const finish = useMutation(FinishRotation);
  async function confirmed() {
    if (!(await finish.mutate({ id }))) return;
    toast('The old authtoken is refused.');
    onClose();
  }
  return (
    <ConfirmDialog
      title="Refuse the old authtoken now?"
      confirmLabel="Refuse it"
      error={finish.error}
      isBusy={finish.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        {sessions === 0
          ? 'No session is open that began with it.'
          : `${sessions} ${sessions === 1 ? 'session that began with it ends' : 'sessions that began with it end'} at once.`}
      </p>
    </ConfirmDialog>
  );
}

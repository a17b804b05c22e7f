// The question before a session of a visitor is ended.

import { useMutation } from '../../data/hooks/use-mutation.ts';
import { EndVisitorSession, type VisitorSessionRowFragment } from '../../generated/operations.ts';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { browserOf } from './session-columns.tsx';

interface SignOutDialogProps {
  session: VisitorSessionRowFragment;
  /** Called when the session has ended. */
  onDone: () => void;
  onClose: () => void;
}

export function SignOutDialog({ session, onDone, onClose }: SignOutDialogProps) {
  const { mutate, error, isBusy } = useMutation(EndVisitorSession);

  async function confirmed() {
    if (!(await mutate({ id: session.id }))) return;
    toast('The visitor is signed out there.');
    onDone();
  }

  return (
    <ConfirmDialog
      title="Sign this visitor out?"
      confirmLabel="Sign out"
      error={error}
      isBusy={isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        {browserOf(session)} is signed out at {session.publicUrl} at once, and what is open in the session is cut off.
        The identity provider may still know the visitor, and let the same browser in again without a question.
      </p>
    </ConfirmDialog>
  );
}

import { useMutation } from '../../data/hooks/use-mutation.ts';
import { ForgetOfflineEndpoint } from '../../generated/operations.ts';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../ui/feedback/toast.tsx';

interface ForgetDialogProps {
  endpoint: { id: string; publicUrl: string };
  onDone: () => void;
  onClose: () => void;
}

/** Asks before an offline endpoint is forgotten: nobody knows afterwards why it went. */
export function ForgetDialog({ endpoint: { id, publicUrl }, onDone, onClose }: ForgetDialogProps) {
  const forget = useMutation(ForgetOfflineEndpoint);
  async function confirmed() {
    if (!(await forget.mutate({ id }))) return;
    toast(`Forgot ${publicUrl}.`);
    onDone();
  }
  return (
    <ConfirmDialog
      title="Forget this address?"
      confirmLabel="Forget it"
      error={forget.error}
      isBusy={forget.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>It goes from this list only. Whoever may serve {publicUrl} may do so as before, and it turns up again then.</p>
    </ConfirmDialog>
  );
}

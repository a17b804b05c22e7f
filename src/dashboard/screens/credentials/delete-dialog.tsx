import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { pathTo } from '../../data/routing/paths.ts';
import { type CredentialRowFragment, DeleteCredential } from '../../generated/operations.ts';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { credentialTitle } from './navigation.ts';

export function DeleteDialog({ credential, onClose }: { credential: CredentialRowFragment; onClose: () => void }) {
  const { id, openSessions } = credential;
  const { route } = useLocation();
  const remove = useMutation(DeleteCredential);

  async function confirmed() {
    if (!(await remove.mutate({ id }))) return;
    toast('The credential is deleted.');
    route(pathTo('credentials'), true);
  }

  return (
    <ConfirmDialog
      title="Delete this credential?"
      typeToConfirm={credentialTitle(credential)}
      confirmLabel="Delete the credential"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>Its authtoken is refused from then on, for good. {consequence(openSessions)}</p>
    </ConfirmDialog>
  );
}

function consequence(sessions: number): string {
  if (sessions === 0) return 'No agent is connected with it now.';
  const who =
    sessions === 1
      ? 'The agent that is connected with it now is'
      : `The ${sessions} agents that are connected with it now are`;
  return `${who} cut off, and what they serve goes offline at once.`;
}

// The dialogs that edit and delete an agent ingress.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { DeleteIngress, type IngressQuery, UpdateIngress } from '../../../generated/operations.ts';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { MetadataDialog } from '../../../ui/dialogs/metadata-dialog.tsx';
import { toast, toastWithUndo } from '../../../ui/feedback/toast.tsx';
import { listPaths } from '../navigation.ts';

interface IngressDialogProps {
  ingress: NonNullable<IngressQuery['agentIngress']>;
  onClose: () => void;
}

export function EditIngressDialog({ ingress, onClose }: IngressDialogProps) {
  const { id } = ingress;
  const update = useMutation(UpdateIngress);
  return (
    <MetadataDialog
      title="Change what is noted of the agent ingress"
      object={ingress}
      error={update.error}
      isBusy={update.isBusy}
      kind="agentIngress"
      id={id}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.mutate({ id, input }))) return false;
        toastWithUndo('The agent ingress is changed.', UpdateIngress, { id, input: before });
        return true;
      }}
    />
  );
}

export function DeleteIngressDialog({ ingress: { id, domain }, onClose }: IngressDialogProps) {
  const { route } = useLocation();
  const remove = useMutation(DeleteIngress);
  async function confirmed() {
    if (!(await remove.mutate({ id }))) return;
    toast('The agent ingress is deleted.');
    route(listPaths.ingresses, true);
  }
  return (
    <ConfirmDialog
      title="Delete this agent ingress?"
      typeToConfirm={domain}
      confirmLabel="Delete the agent ingress"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>Agents that connect by this name can no more; those that are connected stay. The domain stays reserved.</p>
    </ConfirmDialog>
  );
}

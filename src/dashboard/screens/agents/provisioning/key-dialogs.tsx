// What can be done to a provisioning key, and to the credentials that devices have got with it.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { pathTo } from '../../../data/routing/paths.ts';
import {
  DeleteProvisioningKey,
  EndProvisionedCredentials,
  RevokeProvisioningKey,
} from '../../../generated/operations.ts';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import type { ShownKey } from './shown-key.ts';

interface KeyDialogProps {
  provisioningKey: ShownKey;
  onClose: () => void;
}

export function RevokeKeyDialog({ provisioningKey: { id }, onClose }: KeyDialogProps) {
  const revoke = useMutation(RevokeProvisioningKey);
  async function confirmed() {
    if (!(await revoke.mutate({ id }))) return;
    toast('The provisioning key is revoked.');
    onClose();
  }
  return (
    <ConfirmDialog
      title="Revoke this provisioning key?"
      confirmLabel="Revoke the key"
      error={revoke.error}
      isBusy={revoke.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>No further device gets a credential with it, for good. Devices that have one keep it.</p>
    </ConfirmDialog>
  );
}

export function EndCredentialsDialog({ provisioningKey: { id, uses }, onClose }: KeyDialogProps) {
  const end = useMutation(EndProvisionedCredentials);
  async function confirmed() {
    let ended = 0;
    for (let remaining = 1; remaining > 0; ) {
      const result = (await end.mutate({ id }))?.endProvisionedCredentials?.ended;
      if (!result) return;
      ended += result.ended;
      remaining = result.ended > 0 ? result.remaining : 0;
    }
    toast(`${ended} credentials are deleted.`);
    onClose();
  }
  return (
    <ConfirmDialog
      title="End the credentials of all these devices?"
      typeToConfirm={String(uses)}
      confirmLabel="End them all"
      error={end.error}
      isBusy={end.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        Each device is cut off, and what it serves goes offline at once. While the key is valid, a device that starts
        anew without its files gets another one. Type the number of devices to confirm.
      </p>
    </ConfirmDialog>
  );
}

export function DeleteKeyDialog({ provisioningKey: { id, description }, onClose }: KeyDialogProps) {
  const { route } = useLocation();
  const remove = useMutation(DeleteProvisioningKey);
  async function confirmed() {
    if (!(await remove.mutate({ id }))) return;
    toast('The provisioning key is deleted.');
    route(pathTo('agents', 'keys'), true);
  }
  return (
    <ConfirmDialog
      title="Delete this provisioning key?"
      typeToConfirm={description || id}
      confirmLabel="Delete the key"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        Devices keep their credentials, but no list tells any more which of them came from it. To stop it, revoke it
        instead.
      </p>
    </ConfirmDialog>
  );
}

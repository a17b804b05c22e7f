// The dialogs that edit and give up a TCP address.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { type AddressQuery, DeleteAddress, UpdateAddress } from '../../../generated/operations.ts';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { MetadataDialog } from '../../../ui/dialogs/metadata-dialog.tsx';
import { toast, toastWithUndo } from '../../../ui/feedback/toast.tsx';
import { listPaths } from '../navigation.ts';

interface AddressDialogProps {
  address: NonNullable<AddressQuery['reservedAddress']>;
  onClose: () => void;
}

export function EditAddressDialog({ address, onClose }: AddressDialogProps) {
  const { id } = address;
  const update = useMutation(UpdateAddress);
  return (
    <MetadataDialog
      title="Change what is noted of the address"
      object={address}
      error={update.error}
      isBusy={update.isBusy}
      kind="reservedAddress"
      id={id}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.mutate({ id, input }))) return false;
        toastWithUndo('The address is changed.', UpdateAddress, { id, input: before });
        return true;
      }}
    />
  );
}

export function DeleteAddressDialog({ address: { id, addr }, onClose }: AddressDialogProps) {
  const { route } = useLocation();
  const remove = useMutation(DeleteAddress);
  async function confirmed() {
    if (!(await remove.mutate({ id }))) return;
    toast('The address is given up.');
    route(listPaths.addresses, true);
  }
  return (
    <ConfirmDialog
      title="Give this address up?"
      typeToConfirm={addr}
      confirmLabel="Delete the address"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        Anybody may have its port from then on. A tunnel that serves it goes on. It can’t be given up while an edge
        answers on it.
      </p>
    </ConfirmDialog>
  );
}

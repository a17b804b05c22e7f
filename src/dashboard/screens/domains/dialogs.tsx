// The dialogs that edit and delete a domain.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { DeleteDomain, type DomainQuery, UpdateDomain } from '../../generated/operations.ts';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { MetadataDialog } from '../../ui/dialogs/metadata-dialog.tsx';
import { toast, toastWithUndo } from '../../ui/feedback/toast.tsx';
import { listPaths } from './navigation.ts';

export type Domain = NonNullable<DomainQuery['reservedDomain']>;

interface DomainDialogProps {
  domain: Domain;
  onClose: () => void;
}

export function EditDomainDialog({ domain, onClose }: DomainDialogProps) {
  const { id } = domain;
  const update = useMutation(UpdateDomain);
  return (
    <MetadataDialog
      title="Change what is noted of the domain"
      object={domain}
      error={update.error}
      isBusy={update.isBusy}
      kind="reservedDomain"
      id={id}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.mutate({ id, input }))) return false;
        toastWithUndo('The domain is changed.', UpdateDomain, { id, input: before });
        return true;
      }}
    />
  );
}

export function DeleteDomainDialog({ domain: { id, domain }, onClose }: DomainDialogProps) {
  const { route } = useLocation();
  const remove = useMutation(DeleteDomain);
  async function confirmed() {
    if (!(await remove.mutate({ id }))) return;
    toast('The domain is given up.');
    route(listPaths.domains, true);
  }
  return (
    <ConfirmDialog
      title="Give this domain up?"
      typeToConfirm={domain}
      confirmLabel="Delete the domain"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        Anybody may reserve it from then on. Reserved again, it needs other DNS records. It can’t be given up while an
        edge answers on it.
      </p>
    </ConfirmDialog>
  );
}

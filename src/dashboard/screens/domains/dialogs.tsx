// What can be done with a whole domain.

import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { DeleteDomain, type DomainQuery, UpdateDomain } from '../../generated/operations.ts';
import { Confirm } from '../../ui/dialogs/confirm-dialog.tsx';
import { NotesDialog } from '../../ui/dialogs/metadata-dialog.tsx';
import { toast, undoable } from '../../ui/feedback/toast.tsx';
import { lists } from './navigation.ts';

export type Domain = NonNullable<DomainQuery['reservedDomain']>;

interface DomainDialogProps {
  domain: Domain;
  onClose: () => void;
}

export function ChangeDomain({ domain, onClose }: DomainDialogProps) {
  const { id } = domain;
  const update = useAction(UpdateDomain);
  return (
    <NotesDialog
      title="Change what is noted of the domain"
      noted={domain}
      error={update.error}
      isBusy={update.isBusy}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.act({ id, input }))) return;
        undoable('The domain is changed.', UpdateDomain, { id, input: before });
        onClose();
      }}
    />
  );
}

export function DeleteDomainDialog({ domain: { id, domain }, onClose }: DomainDialogProps) {
  const { route } = useLocation();
  const remove = useAction(DeleteDomain);
  async function confirmed() {
    if (!(await remove.act({ id }))) return;
    toast('The domain is given up.');
    route(lists.domains, true);
  }
  return (
    <Confirm
      title="Give this domain up?"
      name={domain}
      action="Delete the domain"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>
        Anybody may reserve it from then on. Reserved again, it needs other DNS records. It can’t be given up while an
        edge answers on it.
      </p>
    </Confirm>
  );
}

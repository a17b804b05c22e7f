// The dialogs that edit and delete an operator in a cluster of Kubernetes.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import {
  DeleteKubernetesOperator,
  type KubernetesOperatorQuery,
  UpdateKubernetesOperator,
} from '../../../generated/operations.ts';
import { ConfirmDialog } from '../../../ui/dialogs/confirm-dialog.tsx';
import { MetadataDialog } from '../../../ui/dialogs/metadata-dialog.tsx';
import { toast, toastWithUndo } from '../../../ui/feedback/toast.tsx';
import { operatorsPath, operatorTitle } from '../navigation.ts';

interface OperatorDialogProps {
  operator: NonNullable<KubernetesOperatorQuery['kubernetesOperator']>;
  onClose: () => void;
}

export function EditOperatorDialog({ operator, onClose }: OperatorDialogProps) {
  const { id } = operator;
  const update = useMutation(UpdateKubernetesOperator);
  return (
    <MetadataDialog
      title="Change what is noted of the operator"
      object={operator}
      error={update.error}
      isBusy={update.isBusy}
      kind="kubernetesOperator"
      id={id}
      onClose={onClose}
      onSave={async (input, before) => {
        if (!(await update.mutate({ id, input }))) return false;
        toastWithUndo('The operator is changed.', UpdateKubernetesOperator, { id, input: before });
        return true;
      }}
    />
  );
}

export function DeleteOperatorDialog({ operator, onClose }: OperatorDialogProps) {
  const { route } = useLocation();
  const remove = useMutation(DeleteKubernetesOperator);
  async function confirmed() {
    if (!(await remove.mutate({ id: operator.id }))) return;
    toast('The operator is forgotten.');
    route(operatorsPath, true);
  }
  return (
    <ConfirmDialog
      title="Forget this operator?"
      typeToConfirm={operatorTitle(operator)}
      confirmLabel="Delete the operator"
      error={remove.error}
      isBusy={remove.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>What it has made stays. If it still runs, it registers again.</p>
    </ConfirmDialog>
  );
}

// Makes a tunnel group, or changes one.

import { useAction } from '../../../data/hooks/use-mutation.ts';
import { CreateBackend, UpdateBackend } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { NotedFields } from '../../../ui/forms/metadata-fields.tsx';
import { type Pair, pairsIn, recordOf } from '../../../ui/forms/pairs-field.tsx';
import { useFields } from '../../../ui/forms/use-form-fields.ts';
import { LabelsField } from '../labels.tsx';

interface BackendFormProps {
  backend?: { id: string; description: string; metadata: string; labels: Record<string, string> };
  onDone: (id: string) => void;
  onCancel: () => void;
}

const noLabel: readonly Pair[] = [{ name: '', value: '' }];

export function BackendForm({ backend, onDone, onCancel }: BackendFormProps) {
  const { values, bind } = useFields({
    labels: backend ? pairsIn(backend.labels) : noLabel,
    description: backend?.description ?? '',
    metadata: backend?.metadata ?? '',
  });
  const create = useAction(CreateBackend);
  const update = useAction(UpdateBackend);

  async function submit() {
    const input = { ...values, labels: recordOf(values.labels) };
    const id = backend
      ? (await update.act({ id: backend.id, input }))?.updateTunnelGroupBackend?.id
      : (await create.act({ input }))?.createTunnelGroupBackend?.id;
    if (id) onDone(id);
  }

  return (
    <Form
      action={backend ? 'Save' : 'Create the tunnel group'}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <LabelsField
        {...bind('labels')}
        label="Labels"
        help="Every live tunnel that has all of them belongs to the group, and gets its share of the traffic."
      />
      <NotedFields bind={bind} />
    </Form>
  );
}

// Creates or edits a tunnel group.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { CreateBackend, UpdateBackend } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { type KeyValuePair, pairsToRecord, recordToPairs } from '../../../ui/forms/key-value-field.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { LabelsField } from '../labels.tsx';

interface BackendFormProps {
  backend?: { id: string; description: string; metadata: string; labels: Record<string, string> };
  onDone: (id: string) => void;
  onCancel: () => void;
}

const noLabel: readonly KeyValuePair[] = [{ name: '', value: '' }];

export function BackendForm({ backend, onDone, onCancel }: BackendFormProps) {
  const fields = useFormFields(
    {
      labels: backend ? recordToPairs(backend.labels) : noLabel,
      description: backend?.description ?? '',
      metadata: backend?.metadata ?? '',
    },
    { draft: `tunnel group ${backend?.id ?? 'new'}`, kind: backend && 'tunnelGroupBackend' },
  );
  const { values, bind } = fields;
  const create = useMutation(CreateBackend);
  const update = useMutation(UpdateBackend);

  async function submit() {
    const input = { ...values, labels: pairsToRecord(values.labels) };
    const id = backend
      ? (await update.mutate({ id: backend.id, input }))?.updateTunnelGroupBackend?.id
      : (await create.mutate({ input }))?.createTunnelGroupBackend?.id;
    if (!id) return;
    fields.saved();
    onDone(id);
  }

  return (
    <Form
      submitLabel={backend ? 'Save' : 'Create the tunnel group'}
      fields={fields}
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
      <MetadataFields bind={bind} />
    </Form>
  );
}

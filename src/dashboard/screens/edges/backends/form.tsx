// Creates or edits a tunnel group.

import { CreateBackend, UpdateBackend } from '../../../generated/operations.ts';
import { type KeyValuePair, pairsToRecord, recordToPairs } from '../../../ui/forms/key-value-field.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { LabelsField } from '../labels.tsx';

interface BackendFormProps extends ObjectFormCallers {
  backend?: { id: string; description: string; metadata: string; labels: Record<string, string> };
}

const noLabel: readonly KeyValuePair[] = [{ name: '', value: '' }];

export function BackendForm({ backend, ...callers }: BackendFormProps) {
  const fields = useFormFields(
    {
      labels: backend ? recordToPairs(backend.labels) : noLabel,
      description: backend?.description ?? '',
      metadata: backend?.metadata ?? '',
    },
    { draft: `tunnel group ${backend?.id ?? 'new'}`, kind: backend && 'tunnelGroupBackend' },
  );
  const { values, bind } = fields;
  const toInput = () => ({ ...values, labels: pairsToRecord(values.labels) });
  return (
    <ObjectForm
      {...callers}
      noun="tunnel group"
      id={backend?.id}
      create={CreateBackend}
      update={UpdateBackend}
      toCreate={toInput}
      toUpdate={toInput}
      fields={fields}
    >
      <LabelsField
        {...bind('labels')}
        label="Labels"
        help="Every live tunnel that has all of them belongs to the group, and gets its share of the traffic."
      />
      <MetadataFields bind={bind} />
    </ObjectForm>
  );
}

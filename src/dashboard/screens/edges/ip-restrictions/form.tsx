// Creates or edits an IP restriction of the account.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { CreateAccountIpRestriction, UpdateAccountIpRestriction } from '../../../generated/operations.ts';
import { CheckField, SelectField } from '../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { IpPolicyForm } from '../ip-policies/form.tsx';
import { ReferenceListField } from '../references/reference-field.tsx';
import { ipPolicyReference } from '../references/references.ts';
import { restrictionTypes } from './types.ts';

interface IpRestrictionFormProps {
  restriction?: {
    id: string;
    type: string;
    enforced: boolean;
    ipPolicies: readonly { id: string }[];
    description: string;
    metadata: string;
  };
  onDone: (id: string) => void;
  onCancel: () => void;
}

const nothing: readonly string[] = [];

export function IpRestrictionForm({ restriction, onDone, onCancel }: IpRestrictionFormProps) {
  const fields = useFormFields(
    {
      type: restriction?.type ?? 'endpoints',
      enforced: restriction?.enforced ?? false,
      ipPolicyIds: restriction?.ipPolicies.map(({ id }) => id) ?? nothing,
      description: restriction?.description ?? '',
      metadata: restriction?.metadata ?? '',
    },
    { draft: `IP restriction ${restriction?.id ?? 'new'}`, kind: restriction && 'accountIpRestriction' },
  );
  const { values, bind } = fields;
  const create = useMutation(CreateAccountIpRestriction);
  const update = useMutation(UpdateAccountIpRestriction);

  async function submit() {
    const { type, ipPolicyIds, ...rest } = values;
    const input = { ...rest, ipPolicyIds: [...ipPolicyIds] };
    const id = restriction
      ? (await update.mutate({ id: restriction.id, input }))?.updateAccountIpRestriction?.id
      : (await create.mutate({ input: { ...input, type } }))?.createAccountIpRestriction?.id;
    if (!id) return;
    fields.saved();
    onDone(id);
  }

  return (
    <Form
      submitLabel={restriction ? 'Save' : 'Create the IP restriction'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      {!restriction && (
        <SelectField
          {...bind('type')}
          label="What it is about"
          options={Object.entries(restrictionTypes).map(([value, title]) => ({ value, title }))}
          help="An account has one for each."
        />
      )}
      <ReferenceListField
        {...bind('ipPolicyIds')}
        label="IP policies"
        type={ipPolicyReference}
        form={IpPolicyForm}
        maxItems={10}
        help="An address is let in when a rule of one of them allows it, and none denies it."
      />
      <CheckField
        {...bind('enforced')}
        label="Refuse other addresses"
        help="Without it, they are let in, and the log of the gateway says that they would not be."
      />
      <MetadataFields bind={bind} />
    </Form>
  );
}

// Creates or edits an IP restriction of the account.

import { CreateAccountIpRestriction, UpdateAccountIpRestriction } from '../../../generated/operations.ts';
import { CheckField, SelectField } from '../../../ui/forms/choice-fields.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { ObjectForm, type ObjectFormCallers } from '../../../ui/forms/object-form.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { IpPolicyForm } from '../ip-policies/form.tsx';
import { ReferenceListField } from '../references/reference-field.tsx';
import { ipPolicyReference } from '../references/references.ts';
import { restrictionTypeOf, restrictionTypes } from './types.ts';

interface IpRestrictionFormProps extends ObjectFormCallers {
  restriction?: {
    id: string;
    type: string;
    enforced: boolean;
    ipPolicies: readonly { id: string }[];
    description: string;
    metadata: string;
  };
}

const nothing: readonly string[] = [];

export function IpRestrictionForm({ restriction, ...callers }: IpRestrictionFormProps) {
  const fields = useFormFields(
    {
      type: restriction?.type ?? 'ENDPOINTS',
      enforced: restriction?.enforced ?? false,
      ipPolicyIds: restriction?.ipPolicies.map(({ id }) => id) ?? nothing,
      description: restriction?.description ?? '',
      metadata: restriction?.metadata ?? '',
    },
    { draft: `IP restriction ${restriction?.id ?? 'new'}`, kind: restriction && 'accountIpRestriction' },
  );
  const { values, bind } = fields;
  const { type, ...rest } = values;
  const toUpdate = () => ({ ...rest, ipPolicyIds: [...rest.ipPolicyIds] });
  return (
    <ObjectForm
      {...callers}
      noun="IP restriction"
      id={restriction?.id}
      create={CreateAccountIpRestriction}
      update={UpdateAccountIpRestriction}
      toCreate={() => ({ ...toUpdate(), type: restrictionTypeOf(type) })}
      toUpdate={toUpdate}
      fields={fields}
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
    </ObjectForm>
  );
}

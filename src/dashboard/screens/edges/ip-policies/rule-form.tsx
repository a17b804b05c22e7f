// Creates or edits a rule of an IP policy.

import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { CreateIpPolicyRule, UpdateIpPolicyRule } from '../../../generated/operations.ts';
import { SelectField } from '../../../ui/forms/choice-fields.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { allOf, required } from '../../../ui/forms/validators.ts';
import { validateCidr } from './validate-cidr.ts';

interface RuleFormProps {
  policyId: string;
  rule?: { id: string; cidr: string; description: string; metadata: string };
  onDone: () => void;
  onCancel: () => void;
}

export function RuleForm({ policyId, rule, onDone, onCancel }: RuleFormProps) {
  const fields = useFormFields(
    {
      cidr: rule?.cidr ?? '',
      action: 'ALLOW',
      description: rule?.description ?? '',
      metadata: rule?.metadata ?? '',
    },
    { draft: `rule ${rule?.id ?? `new ${policyId}`}`, kind: rule && 'ipPolicyRule' },
  );
  const { values, bind } = fields;
  const create = useMutation(CreateIpPolicyRule);
  const update = useMutation(UpdateIpPolicyRule);

  async function submit() {
    const { action: chosen, ...changeable } = values;
    const input = { ...changeable, cidr: changeable.cidr.trim() };
    const action = chosen === 'DENY' ? 'DENY' : 'ALLOW';
    const isDone = rule
      ? await update.mutate({ id: rule.id, input })
      : await create.mutate({ input: { ...input, action, ipPolicyId: policyId } });
    if (!isDone) return;
    fields.saved();
    onDone();
  }

  return (
    <Form
      submitLabel={rule ? 'Save' : 'Add the rule'}
      fields={fields}
      onSubmit={() => void submit()}
      error={create.error ?? update.error}
      isBusy={create.isBusy || update.isBusy}
      onCancel={onCancel}
    >
      <TextField
        {...bind('cidr')}
        label="Network"
        placeholder="192.0.2.0/24"
        help="Its lowest address and the length of its prefix. One address alone is 192.0.2.7/32."
        validate={allOf(required('A network'), validateCidr)}
        isCode
      />
      {!rule && (
        <SelectField
          {...bind('action')}
          label="Visitors from there are"
          options={[
            { value: 'ALLOW', title: 'let in' },
            { value: 'DENY', title: 'turned away, whatever else lets them in' },
          ]}
        />
      )}
      <MetadataFields bind={bind} />
    </Form>
  );
}

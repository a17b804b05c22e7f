// Creates an IP policy with its first rules, or edits its description and metadata.

import { useState } from 'preact/hooks';
import type { ApiFailure } from '../../../data/client/client.ts';
import { execute, toApiFailure } from '../../../data/client/client.ts';
import { CreateIpPolicy, CreateIpPolicyRule, UpdateIpPolicy } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { ListField, nonEmptyLines } from '../../../ui/forms/list-field.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { validateCidr } from './validate-cidr.ts';

interface IpPolicyFormProps {
  policy?: { id: string; description: string; metadata: string };
  onDone: (id: string) => void;
  onCancel: () => void;
}

const oneLine: readonly string[] = [''];

export function IpPolicyForm({ policy, onDone, onCancel }: IpPolicyFormProps) {
  const fields = useFormFields(
    {
      description: policy?.description ?? '',
      metadata: policy?.metadata ?? '',
      cidr: oneLine,
    },
    { draft: `IP policy ${policy?.id ?? 'new'}`, kind: policy && 'ipPolicy' },
  );
  const { values, bind } = fields;
  const [error, setError] = useState<ApiFailure>();
  const [isBusy, setBusy] = useState(false);
  // What was created before a rule failed; a second submission does not create it again.
  const [created, setCreated] = useState<{ id: string; cidrs: readonly string[] }>();

  async function submit() {
    const { description, metadata } = values;
    setBusy(true);
    setError(undefined);
    try {
      if (policy) {
        await execute(UpdateIpPolicy, { id: policy.id, input: { description, metadata } });
        fields.saved();
        onDone(policy.id);
        return;
      }
      let done = created ?? { id: await create(description, metadata), cidrs: [] };
      setCreated(done);
      for (const cidr of nonEmptyLines(values.cidr)) {
        if (done.cidrs.includes(cidr)) continue;
        await execute(CreateIpPolicyRule, { input: { ipPolicyId: done.id, cidr, action: 'ALLOW' } });
        done = { ...done, cidrs: [...done.cidrs, cidr] };
        setCreated(done);
      }
      fields.saved();
      onDone(done.id);
    } catch (thrown) {
      setError(toApiFailure(thrown));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Form
      submitLabel={policy ? 'Save' : 'Create the IP policy'}
      fields={fields}
      onSubmit={() => void submit()}
      error={error}
      isBusy={isBusy}
      onCancel={onCancel}
    >
      <MetadataFields bind={bind} />
      {!policy && (
        <ListField
          {...bind('cidr')}
          label="Networks that may visit"
          itemName="network"
          placeholder="192.0.2.0/24"
          validateLine={validateCidr}
          help="More rules, and those that deny, can be added later. A policy without a rule lets in nobody."
        />
      )}
    </Form>
  );
}

async function create(description: string, metadata: string): Promise<string> {
  const { createIpPolicy } = await execute(CreateIpPolicy, { input: { description, metadata } });
  return createIpPolicy?.ipPolicy.id ?? '';
}

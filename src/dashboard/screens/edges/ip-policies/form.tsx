// Makes an IP policy with its first rules, or changes what is noted of one.

import { useState } from 'preact/hooks';
import type { ApiFailure } from '../../../data/client/client.ts';
import { failureOf, run } from '../../../data/client/client.ts';
import { CreateIpPolicy, CreateIpPolicyRule, UpdateIpPolicy } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { ListField, linesOf } from '../../../ui/forms/list-field.tsx';
import { NotedFields } from '../../../ui/forms/metadata-fields.tsx';
import { useFields } from '../../../ui/forms/use-form-fields.ts';
import { network } from './validate-cidr.ts';

interface IpPolicyFormProps {
  policy?: { id: string; description: string; metadata: string };
  onDone: (id: string) => void;
  onCancel: () => void;
}

const oneLine: readonly string[] = [''];

export function IpPolicyForm({ policy, onDone, onCancel }: IpPolicyFormProps) {
  const { values, bind } = useFields({
    description: policy?.description ?? '',
    metadata: policy?.metadata ?? '',
    cidr: oneLine,
  });
  const [error, setError] = useState<ApiFailure>();
  const [isBusy, setBusy] = useState(false);
  // What was made already when a rule was refused: it isn't made twice.
  const [made, setMade] = useState<{ id: string; cidrs: readonly string[] }>();

  async function submit() {
    const { description, metadata } = values;
    setBusy(true);
    setError(undefined);
    try {
      if (policy) {
        await run(UpdateIpPolicy, { id: policy.id, input: { description, metadata } });
        onDone(policy.id);
        return;
      }
      let done = made ?? { id: await create(description, metadata), cidrs: [] };
      setMade(done);
      for (const cidr of linesOf(values.cidr)) {
        if (done.cidrs.includes(cidr)) continue;
        await run(CreateIpPolicyRule, { input: { ipPolicyId: done.id, cidr, action: 'allow' } });
        done = { ...done, cidrs: [...done.cidrs, cidr] };
        setMade(done);
      }
      onDone(done.id);
    } catch (thrown) {
      setError(failureOf(thrown));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Form
      action={policy ? 'Save' : 'Create the IP policy'}
      onSubmit={() => void submit()}
      error={error}
      isBusy={isBusy}
      onCancel={onCancel}
    >
      <NotedFields bind={bind} />
      {!policy && (
        <ListField
          {...bind('cidr')}
          label="Networks that may visit"
          line="network"
          placeholder="192.0.2.0/24"
          checkLine={network}
          help="More rules, and those that deny, can be added later. A policy without a rule lets in nobody."
        />
      )}
    </Form>
  );
}

async function create(description: string, metadata: string): Promise<string> {
  const { createIpPolicy } = await run(CreateIpPolicy, { input: { description, metadata } });
  return createIpPolicy?.id ?? '';
}

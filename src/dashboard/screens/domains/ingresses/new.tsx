// The form that makes a domain an agent ingress.

import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { CreateIngress } from '../../../generated/operations.ts';
import { Form } from '../../../ui/forms/form.tsx';
import { MetadataFields } from '../../../ui/forms/metadata-fields.tsx';
import { TextField } from '../../../ui/forms/text-field.tsx';
import { useFormFields } from '../../../ui/forms/use-form-fields.ts';
import { required } from '../../../ui/forms/validators.ts';
import { Page } from '../../../ui/layout/page.tsx';
import { ingressCrumbs, listPaths } from '../navigation.ts';

export function NewIngress() {
  const { route } = useLocation();
  const fields = useFormFields({ domain: '', description: '', metadata: '' }, { draft: 'new agent ingress' });
  const { bind, values } = fields;
  const create = useMutation(CreateIngress);

  async function submit() {
    const input = { ...values, domain: values.domain.trim() };
    const { id } = (await create.mutate({ input }))?.createAgentIngress?.agentIngress ?? {};
    if (!id) return;
    fields.saved();
    route(objectPath('agentIngress', id), true);
  }

  return (
    <Page title="New agent ingress" crumbs={ingressCrumbs}>
      <Form
        submitLabel="Create the agent ingress"
        fields={fields}
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(listPaths.ingresses)}
      >
        <TextField
          {...bind('domain')}
          label="Domain"
          placeholder="agents.example.com"
          help="It is reserved along with it. Its records have to lead to the gateway, and agents connect to it at the port of the agent listener."
          validate={required('A domain')}
          isCode
        />
        <MetadataFields bind={bind} />
      </Form>
    </Page>
  );
}

import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { CreateApiKey } from '../../generated/operations.ts';
import { SelectField } from '../../ui/forms/choice-fields.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { ListField, nonEmptyLines } from '../../ui/forms/list-field.tsx';
import { TextArea, TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { validateDescription, validateMetadata } from '../../ui/forms/validators.ts';
import { OneTimeSecret } from '../../ui/layout/one-time-secret.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { CodeBlock } from '../../ui/text/code-block.tsx';
import { OwnerField } from '../credentials/owner.tsx';
import { keyCrumbs, listPaths } from './navigation.ts';

const DAY_MS = 86_400_000;
const noScopes: readonly string[] = [''];
const lifetimes = [
  { value: '', title: 'Never' },
  ...[7, 30, 90, 365].map((days) => ({ value: String(days), title: `In ${days} days` })),
];

interface Created {
  id: string;
  token: string;
}

export function NewApiKey() {
  const { route } = useLocation();
  const [created, setCreated] = useState<Created>();
  const fields = useFormFields(
    { description: '', ownerId: '', scopes: noScopes, days: '', metadata: '' },
    { draft: 'new API key' },
  );
  const { bind, values } = fields;
  const create = useMutation(CreateApiKey);

  async function submit() {
    const { ownerId, scopes, days, ...texts } = values;
    const expiresAt = days === '' ? undefined : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
    const input = { ...texts, scopes: nonEmptyLines(scopes), expiresAt, ...(ownerId && { ownerId }) };
    const result = await create.mutate({ input });
    const { apiKey, token } = result?.createApiKey ?? {};
    if (!apiKey || !token) return;
    const { id } = apiKey;
    fields.saved();
    setCreated({ id, token });
  }

  if (created) {
    return (
      <Page title="The new API key" crumbs={keyCrumbs}>
        <OneTimeSecret
          name="API key"
          secret={created.token}
          onDismiss={() => route(objectPath('apiKey', created.id), true)}
        >
          <p>A request with it, for example:</p>
          <CodeBlock code={exampleRequest(created.token)} label="the example" />
        </OneTimeSecret>
      </Page>
    );
  }
  return (
    <Page title="New API key" crumbs={keyCrumbs}>
      <Form
        submitLabel="Create the API key"
        fields={fields}
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(listPaths.keys)}
      >
        <TextField
          {...bind('description')}
          label="Description"
          help="For people: who or what will use it."
          validate={validateDescription}
        />
        <OwnerField {...bind('ownerId')} subject="the key" />
        <ListField
          {...bind('scopes')}
          label="Allowed"
          itemName="scope"
          placeholder="reserved_domain:read"
          help="What the key may do: read, or kinds of objects as in tls_edge:write, or one object as in credential:write:cr_…. Empty: all that its holder may."
        />
        <SelectField {...bind('days')} label="Expires" options={lifetimes} />
        <TextArea
          {...bind('metadata')}
          label="Metadata"
          help="For machines: any text."
          rows={2}
          validate={validateMetadata}
          isCode
        />
      </Form>
      <p class="muted">A key never may more than its holder.</p>
    </Page>
  );
}

function exampleRequest(token: string): string {
  return `curl ${window.location.origin}/endpoints -H 'Authorization: Bearer ${token}' -H 'Service-Version: 2'`;
}

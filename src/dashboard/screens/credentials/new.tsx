import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { CreateCredential } from '../../generated/operations.ts';
import { Form } from '../../ui/forms/form.tsx';
import { TextArea, TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { validateDescription, validateMetadata } from '../../ui/forms/validators.ts';
import { OneTimeSecret } from '../../ui/layout/one-time-secret.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { AclField, linesToAcl } from './acl-field.tsx';
import type { RuleLine } from './acl-rules.ts';
import { credentialCrumbs } from './navigation.ts';
import { OwnerField } from './owner.tsx';
import { StartCommand } from './start-command.tsx';

interface Created {
  id: string;
  token: string;
  acl: readonly string[];
}

export function NewCredential() {
  const { route } = useLocation();
  const [created, setCreated] = useState<Created>();
  const fields = useFormFields(
    {
      description: '',
      acl: [] as readonly RuleLine[],
      ownerId: '',
      metadata: '',
    },
    { draft: 'new credential' },
  );
  const { bind, values } = fields;
  const create = useMutation(CreateCredential);

  async function submit() {
    const { ownerId, acl, ...texts } = values;
    const result = await create.mutate({ input: { ...texts, acl: linesToAcl(acl), ...(ownerId && { ownerId }) } });
    const { credential, token } = result?.createCredential ?? {};
    if (!credential || !token) return;
    const { id, acl: storedAcl } = credential;
    fields.saved();
    setCreated({ id, token, acl: storedAcl ?? [] });
  }

  if (created) {
    return (
      <Page title="The new credential" crumbs={credentialCrumbs}>
        <OneTimeSecret
          name="authtoken"
          secret={created.token}
          onDismiss={() => route(objectPath('credential', created.id), true)}
        >
          <p>This line starts an agent with it, wherever there is Node:</p>
          <StartCommand token={created.token} acl={created.acl} />
        </OneTimeSecret>
      </Page>
    );
  }
  return (
    <Page title="New credential" crumbs={credentialCrumbs}>
      <Form
        submitLabel="Create the credential"
        fields={fields}
        onSubmit={() => void submit()}
        error={create.error}
        isBusy={create.isBusy}
        onCancel={() => route(pathTo('credentials'))}
      >
        <TextField
          {...bind('description')}
          label="Description"
          help="For people: who or what will use it."
          validate={validateDescription}
        />
        <AclField {...bind('acl')} />
        <OwnerField {...bind('ownerId')} subject="the credential" />
        <TextArea
          {...bind('metadata')}
          label="Metadata"
          help="For machines: any text."
          rows={2}
          validate={validateMetadata}
          isCode
        />
      </Form>
    </Page>
  );
}

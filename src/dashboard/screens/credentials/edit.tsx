import { useLocation } from 'preact-iso/router';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { Credential, type CredentialQuery, UpdateCredential } from '../../generated/operations.ts';
import { toastWithUndo } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextArea, TextField } from '../../ui/forms/text-field.tsx';
import { useFormFields } from '../../ui/forms/use-form-fields.ts';
import { validateDescription, validateMetadata } from '../../ui/forms/validators.ts';
import { LoadingPage } from '../../ui/layout/loading-page.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { AclField, linesToAcl } from './acl-field.tsx';
import { type RuleLine, ruleToLine } from './acl-rules.ts';
import { credentialCrumbs, crumbsInside } from './navigation.ts';

export function EditCredential() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Credential, { id }, { kinds: ['credential'] });
  const credential = data?.credential;
  if (!credential) {
    return (
      <LoadingPage
        title="Change the credential"
        noun="credential"
        crumbs={credentialCrumbs}
        error={error}
        refetch={refetch}
      />
    );
  }
  return <EditForm key={id} credential={credential} />;
}

function EditForm({ credential }: { credential: NonNullable<CredentialQuery['credential']> }) {
  const { id, acl } = credential;
  const { route } = useLocation();
  const fields = useFormFields(
    {
      description: credential.description,
      acl: acl.map(ruleToLine) as readonly RuleLine[],
      metadata: credential.metadata,
    },
    { draft: `credential ${id}`, kind: 'credential' },
  );
  const { bind, values } = fields;
  const update = useMutation(UpdateCredential);
  const detailPath = objectPath('credential', id);

  async function submit() {
    if (!(await update.mutate({ id, input: { ...values, acl: linesToAcl(values.acl) } }))) return;
    fields.saved();
    const before = { description: credential.description, acl, metadata: credential.metadata };
    toastWithUndo('The credential is changed.', UpdateCredential, { id, input: before });
    route(detailPath);
  }

  return (
    <Page title="Change the credential" crumbs={crumbsInside(credential)}>
      <Form
        submitLabel="Save"
        fields={fields}
        onSubmit={() => void submit()}
        error={update.error}
        isBusy={update.isBusy}
        onCancel={() => route(detailPath)}
      >
        <TextField
          {...bind('description')}
          label="Description"
          help="For people: who or what uses it."
          validate={validateDescription}
        />
        <AclField {...bind('acl')} />
        <TextArea
          {...bind('metadata')}
          label="Metadata"
          help="For machines: any text."
          rows={2}
          validate={validateMetadata}
          isCode
        />
      </Form>
      <p class="muted">Agents that are connected follow the new rules at once.</p>
    </Page>
  );
}

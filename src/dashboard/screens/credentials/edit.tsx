import { useLocation } from 'preact-iso/router';
import { useAction } from '../../data/hooks/use-mutation.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { addressOf } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { Credential, type CredentialQuery, UpdateCredential } from '../../generated/operations.ts';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { undoable } from '../../ui/feedback/toast.tsx';
import { Form } from '../../ui/forms/form.tsx';
import { TextArea, TextField } from '../../ui/forms/text-field.tsx';
import { useFields } from '../../ui/forms/use-form-fields.ts';
import { description, metadata } from '../../ui/forms/validators.ts';
import { Page } from '../../ui/layout/page.tsx';
import { AclField, aclOf } from './acl-field.tsx';
import { lineOf, type RuleLine } from './acl-rules.ts';
import { credentialCrumbs, crumbsBelow } from './navigation.ts';

export function EditCredential() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(Credential, { id });
  const credential = data?.credential;
  if (!credential) {
    return (
      <Page title="Change the credential" crumbs={credentialCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void reload()} /> : <Skeleton />}
      </Page>
    );
  }
  return <Change key={id} credential={credential} />;
}

function Change({ credential }: { credential: NonNullable<CredentialQuery['credential']> }) {
  const { id, acl } = credential;
  const { route } = useLocation();
  const { bind, values } = useFields({
    description: credential.description,
    acl: acl.map(lineOf) as readonly RuleLine[],
    metadata: credential.metadata,
  });
  const update = useAction(UpdateCredential);
  const back = addressOf('credential', id);

  async function submit() {
    if (!(await update.act({ id, input: { ...values, acl: aclOf(values.acl) } }))) return;
    const before = { description: credential.description, acl, metadata: credential.metadata };
    undoable('The credential is changed.', UpdateCredential, { id, input: before });
    route(back);
  }

  return (
    <Page title="Change the credential" crumbs={crumbsBelow(credential)}>
      <Form
        action="Save"
        onSubmit={() => void submit()}
        error={update.error}
        isBusy={update.isBusy}
        onCancel={() => route(back)}
      >
        <TextField
          {...bind('description')}
          label="Description"
          help="For people: who or what uses it."
          check={description}
        />
        <AclField {...bind('acl')} />
        <TextArea
          {...bind('metadata')}
          label="Metadata"
          help="For machines: any text."
          rows={2}
          check={metadata}
          isCode
        />
      </Form>
      <p class="quiet">Agents that are connected follow the new rules at once.</p>
    </Page>
  );
}

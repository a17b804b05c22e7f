import { useLocation } from 'preact-iso/router';
import { addressOf } from '../../data/addresses.ts';
import { useAction } from '../../data/use-action.ts';
import { useFields } from '../../data/use-fields.ts';
import { useParam } from '../../data/use-param.ts';
import { useQuery } from '../../data/use-query.ts';
import { Credential, type CredentialQuery, UpdateCredential } from '../../generated/operations.ts';
import { description, metadata } from '../../ui/checks.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { TextArea, TextField } from '../../ui/text-field.tsx';
import { undoable } from '../../ui/undoable.ts';
import { AclField, aclOf } from './acl-field.tsx';
import { credentialCrumbs, crumbsBelow } from './crumbs.ts';
import { lineOf, type RuleLine } from './rules.ts';

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

import { useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { addressOf, pathOf } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { Credential } from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { Empty } from '../../ui/layout/empty-state.tsx';
import { Notes } from '../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { Copy } from '../../ui/text/copy-button.tsx';
import { Facts } from '../../ui/text/description-list.tsx';
import { When } from '../../ui/text/relative-time.tsx';
import { Deletion } from './delete-dialog.tsx';
import { credentialCrumbs, credentialTitle } from './navigation.ts';
import { isOurs, OwnerLink } from './owner.tsx';
import { Sessions } from './sessions.tsx';
import { useAclTrial } from './use-acl-dry-run.ts';

export function CredentialPage() {
  const id = useParam('id');
  const { data, error, reload } = useQuery(Credential, { id }, { kinds: ['credential', 'tunnelSession'] });
  const [isDeleting, setDeleting] = useState(false);
  const credential = data?.credential;
  if (error?.code === 'NOT_FOUND') return <Gone />;
  if (!credential) {
    return (
      <Page title="Credential" crumbs={credentialCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void reload()} /> : <Skeleton />}
      </Page>
    );
  }
  const { acl, owner, createdAt, metadata, tunnelSessions } = credential;
  return (
    <Page
      title={credentialTitle(credential)}
      crumbs={credentialCrumbs}
      actions={
        isOurs(owner) && (
          <>
            <LinkButton href={pathOf('credentials', id, 'edit')}>Change</LinkButton>
            <Button look="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      <ErrorNote error={error} retry={() => void reload()} />
      {!owner.active && <Note look="warn">Its holder is inactive: agents are turned away until that changes.</Note>}
      <Facts
        facts={[
          { name: 'Held by', value: <OwnerLink owner={owner} /> },
          { name: 'Agents now', value: tunnelSessions.length || 'none' },
          { name: 'Created', value: <When at={createdAt} /> },
          { name: 'Id', value: <Copy text={id} what="the id" /> },
        ]}
      />
      <Rules acl={acl} />
      <Sessions ids={tunnelSessions.map((session) => session.id)} acl={acl} />
      <Notes text={metadata} />
      {isDeleting && <Deletion credential={credential} onClose={() => setDeleting(false)} />}
    </Page>
  );
}

function Rules({ acl }: { acl: readonly string[] }) {
  const trial = useAclTrial(acl);
  return (
    <Section title="What it may bind">
      {acl.length === 0 ? (
        <p>Everything: it has no rules.</p>
      ) : (
        <ul class="rules">
          {acl.map((rule, index) => (
            <li key={index}>
              <code>{rule}</code> <span class="quiet">{trial?.rules[index]?.message}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Gone() {
  return (
    <Page title="Credential" crumbs={credentialCrumbs}>
      <Empty
        title="There is no such credential"
        action={<LinkButton href={pathOf('credentials')}>All credentials</LinkButton>}
      >
        It has been deleted, or belongs to another account. Its authtoken is refused. See{' '}
        <a href={addressOf('credential', 'new')}>New credential</a> for another.
      </Empty>
    </Page>
  );
}

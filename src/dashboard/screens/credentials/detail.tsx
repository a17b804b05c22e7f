import { useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { Credential } from '../../generated/operations.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { credentialCrumbs, credentialTitle } from './navigation.ts';
import { canManage, OwnerLink } from './owner.tsx';
import { RotationSection } from './rotation.tsx';
import { AgentSessions } from './sessions.tsx';
import { useAclDryRun } from './use-acl-dry-run.ts';

export function CredentialPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Credential, { id }, { kinds: ['credential', 'tunnelSession'] });
  const [isDeleting, setDeleting] = useState(false);
  const credential = data?.credential;
  if (error?.code === 'NOT_FOUND') return <CredentialNotFound />;
  if (!credential) {
    return (
      <Page title="Credential" crumbs={credentialCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const { acl, owner, createdAt, metadata, openSessions, tunnelSessions } = credential;
  return (
    <Page
      title={credentialTitle(credential)}
      crumbs={credentialCrumbs}
      actions={
        canManage(owner) && (
          <>
            <LinkButton href={pathTo('credentials', id, 'edit')}>Change</LinkButton>
            <Button variant="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      <ErrorNote error={error} retry={() => void refetch()} />
      {!owner.active && <Note variant="warn">Its holder is inactive: agents are turned away until that changes.</Note>}
      <DescriptionList
        items={[
          { name: 'Held by', value: <OwnerLink owner={owner} /> },
          { name: 'Agents now', value: openSessions || 'none' },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          { name: 'Id', value: <CopyButton text={id} label="the id" /> },
        ]}
      />
      <AclRules acl={acl} />
      {canManage(owner) && <RotationSection credential={credential} />}
      <AgentSessions ids={tunnelSessions.nodes.map((session) => session.id)} acl={acl} />
      <MetadataSection text={metadata} />
      <AuditHistory id={id} />
      {isDeleting && <DeleteDialog credential={credential} onClose={() => setDeleting(false)} />}
    </Page>
  );
}

function AclRules({ acl }: { acl: readonly string[] }) {
  const dryRun = useAclDryRun(acl);
  return (
    <Section title="What it may bind">
      {acl.length === 0 ? (
        <p>Everything: it has no rules.</p>
      ) : (
        <ul class="rules">
          {acl.map((rule, index) => (
            <li key={index}>
              <code>{rule}</code> <span class="muted">{dryRun?.rules[index]?.message}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function CredentialNotFound() {
  return (
    <Page title="Credential" crumbs={credentialCrumbs}>
      <EmptyState
        title="There is no such credential"
        action={<LinkButton href={pathTo('credentials')}>All credentials</LinkButton>}
      >
        It has been deleted, or belongs to another account. Its authtoken is refused. See{' '}
        <a href={objectPath('credential', 'new')}>New credential</a> for another.
      </EmptyState>
    </Page>
  );
}

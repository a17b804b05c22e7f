import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { type CredentialRowFragment, Credentials } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { Count } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { aclText } from './acl-rules.ts';
import { OwnerLink } from './owner.tsx';

const NEW = pathTo('credentials', 'new');

const columns: Column<CredentialRowFragment>[] = [
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description, id }) => description || id,
  },
  {
    key: 'acl',
    title: 'May bind',
    width: '2fr',
    cell: ({ acl }) => <span title={aclText(acl)}>{aclText(acl)}</span>,
  },
  {
    key: 'sessions',
    title: 'Agents',
    width: '6rem',
    align: 'end',
    cell: ({ openSessions }) => <AgentCount value={openSessions} />,
  },
  {
    key: 'owner',
    member: 'owner_id',
    title: 'Held by',
    width: '1.5fr',
    priority: 2,
    cell: ({ owner }) => <OwnerLink owner={owner} />,
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Created',
    width: '7rem',
    priority: 3,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

/** The count with its noun, because cards on narrow screens show no column titles. */
function AgentCount({ value }: { value: number }) {
  if (value === 0) return <span class="muted">no agent</span>;
  return (
    <>
      <Count value={value} /> {value === 1 ? 'agent' : 'agents'}
    </>
  );
}

export function CredentialList() {
  const view = useListView('credentials', Credentials, (result) => result.credentials, {
    kinds: ['credential', 'tunnelSession'],
  });
  return (
    <Page
      title="Credentials"
      lead="Authtokens with which agents connect, and what each may bind."
      actions={
        <LinkButton variant="primary" href={NEW}>
          New credential
        </LinkButton>
      }
    >
      <ListTable
        label="Credentials"
        cardLines={3}
        columns={columns}
        view={view}
        nouns={['credential', 'credentials']}
        consequence="Their authtokens are refused from then on, and agents that use them are cut off."
        href={({ id }) => objectPath('credential', id)}
        empty={
          <EmptyState
            title="No credentials yet"
            action={
              <LinkButton variant="primary" href={NEW}>
                New credential
              </LinkButton>
            }
          >
            An agent connects with the authtoken of a credential. Creating one shows the line that starts an agent.
          </EmptyState>
        }
      />
    </Page>
  );
}

// Vaults: the list, the form for a new one, and the page of one with its secrets.

import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { DeleteVault, Vault, type VaultRowFragment, Vaults } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { listPaths, newPath, tabs } from '../navigation.ts';
import { VaultForm } from './form.tsx';
import { Secrets } from './secrets.tsx';

const crumbs = [{ title: 'Vaults', href: listPaths.vaults }];

const columns: Column<VaultRowFragment>[] = [
  { key: 'name', member: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description }) => description,
    priority: 2,
  },
  { key: 'secrets', isLabelled: true, title: 'Secrets', width: '6rem', cell: ({ secretCount }) => secretCount },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Created',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
    priority: 3,
  },
];

export function VaultList() {
  const view = useListView('vaults', Vaults, (result) => result.vaults, { kinds: ['vault', 'secret'] });
  return (
    <Page
      title="Vaults"
      actions={
        <LinkButton variant="primary" href={newPath(listPaths.vaults)}>
          New vault
        </LinkButton>
      }
    >
      <Tabs label="Edges and what they use" tabs={tabs} />
      <ListTable
        label="Vaults"
        columns={columns}
        view={view}
        nouns={['vault', 'vaults']}
        consequence="A vault that holds secrets is not deleted."
        href={({ id }) => objectPath('vault', id)}
        empty={
          <EmptyState
            title="No vaults yet"
            action={<LinkButton href={newPath(listPaths.vaults)}>New vault</LinkButton>}
          >
            A vault holds secrets, such as passwords and tokens, which traffic policies read and nobody sees.
          </EmptyState>
        }
      />
    </Page>
  );
}

export function NewVault() {
  const { route } = useLocation();
  return (
    <Page title="New vault" crumbs={crumbs}>
      <VaultForm onDone={(id) => route(objectPath('vault', id))} onCancel={() => route(listPaths.vaults)} />
    </Page>
  );
}

export function VaultPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Vault, { id }, { kinds: ['vault'] });
  const { route } = useLocation();
  const vault = data?.vault;
  if (!vault) return <NotYet title="Vault" crumbs={crumbs} error={error} refetch={refetch} />;
  return (
    <DetailPage
      title={vault.name}
      crumbs={crumbs}
      noun="vault"
      id={id}
      remove={DeleteVault}
      consequence="Its secrets have to be deleted first."
    >
      <Secrets key={`${id} secrets`} vaultId={id} />
      <Section title="Settings">
        <VaultForm
          key={id}
          vault={vault}
          onDone={() => toast('The vault is changed.')}
          onCancel={() => route(listPaths.vaults)}
        />
      </Section>
    </DetailPage>
  );
}

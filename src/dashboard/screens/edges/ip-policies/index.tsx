// IP policies: the list, the form for a new one, and the page of one with its rules.

import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { DeleteIpPolicy, IpPolicies, IpPolicy, type IpPolicyRowFragment } from '../../../generated/operations.ts';
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
import { IpPolicyForm } from './form.tsx';
import { Rules } from './rules.tsx';

const crumbs = [{ title: 'IP policies', href: listPaths.ipPolicies }];

const columns: Column<IpPolicyRowFragment>[] = [
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ id, description }) => description || id,
  },
  { key: 'id', title: 'Id', width: '2fr', cell: ({ id }) => <code>{id}</code>, priority: 3 },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Created',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

export function IpPolicyList() {
  const view = useListView('ipPolicies', IpPolicies, (result) => result.ipPolicies, { kinds: ['ipPolicy'] });
  return (
    <Page
      title="IP policies"
      actions={
        <LinkButton variant="primary" href={newPath(listPaths.ipPolicies)}>
          New IP policy
        </LinkButton>
      }
    >
      <Tabs label="Edges and what they use" tabs={tabs} />
      <ListTable
        label="IP policies"
        columns={columns}
        view={view}
        nouns={['IP policy', 'IP policies']}
        consequence="Their rules are deleted with them."
        href={({ id }) => objectPath('ipPolicy', id)}
        empty={
          <EmptyState
            title="No IP policies yet"
            action={<LinkButton href={newPath(listPaths.ipPolicies)}>New IP policy</LinkButton>}
          >
            An IP policy says which networks may visit and which may not. The IP restriction of an edge or a route names
            it.
          </EmptyState>
        }
      />
    </Page>
  );
}

export function NewIpPolicy() {
  const { route } = useLocation();
  return (
    <Page title="New IP policy" crumbs={crumbs}>
      <IpPolicyForm onDone={(id) => route(objectPath('ipPolicy', id))} onCancel={() => route(listPaths.ipPolicies)} />
    </Page>
  );
}

export function IpPolicyPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(IpPolicy, { id }, { kinds: ['ipPolicy'] });
  const { route } = useLocation();
  const policy = data?.ipPolicy;
  if (!policy) return <NotYet title="IP policy" crumbs={crumbs} error={error} refetch={refetch} />;
  return (
    <DetailPage
      title={policy.description || policy.id}
      crumbs={crumbs}
      noun="IP policy"
      id={id}
      remove={DeleteIpPolicy}
      consequence="Its rules are deleted with it. An edge or a route that names it has to be changed first."
    >
      <Rules key={`${id} rules`} policyId={id} />
      <Section title="Settings">
        <IpPolicyForm
          key={id}
          policy={policy}
          onDone={() => toast('The IP policy is changed.')}
          onCancel={() => route(listPaths.ipPolicies)}
        />
      </Section>
    </DetailPage>
  );
}

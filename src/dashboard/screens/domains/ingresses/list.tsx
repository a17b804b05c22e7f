// The further names that agents connect to.

import { objectPath } from '../../../data/routing/paths.ts';
import { Ingresses, type IngressRowFragment } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { newIngressPath, tabs } from '../navigation.ts';

const columns: Column<IngressRowFragment>[] = [
  { key: 'domain', title: 'Domain', width: '2fr', cell: ({ domain }) => domain },
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description }) => description,
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Created',
    width: '8rem',
    priority: 2,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

const newIngress = (
  <LinkButton variant="primary" href={newIngressPath}>
    New agent ingress
  </LinkButton>
);

export function IngressList() {
  const view = useListView('agentIngresses', Ingresses, (result) => result.agentIngresses, { kinds: ['agentIngress'] });
  return (
    <Page title="Agent ingresses" lead="Further names that agents connect to." actions={newIngress}>
      <Tabs label="Domains and addresses" tabs={tabs} />
      <ListTable
        label="Agent ingresses"
        columns={columns}
        view={view}
        nouns={['agent ingress', 'agent ingresses']}
        consequence="Agents that connect by them can no more; those that are connected stay."
        href={({ id }) => objectPath('agentIngress', id)}
        empty={
          <EmptyState title="No agent ingresses yet" action={newIngress}>
            Agents connect by the gateway’s own name. With an agent ingress they connect by a domain of yours, too.
          </EmptyState>
        }
      />
    </Page>
  );
}

// The operators in clusters of Kubernetes, which register themselves.

import { objectPath } from '../../../data/routing/paths.ts';
import { type KubernetesOperatorRowFragment, KubernetesOperators } from '../../../generated/operations.ts';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { fleetTabs, operatorTitle } from '../navigation.ts';

const columns: Column<KubernetesOperatorRowFragment>[] = [
  { key: 'deployment', title: 'Operator', width: '2fr', cell: operatorTitle },
  { key: 'cluster', title: 'Cluster', width: '1fr', cell: ({ deployment }) => deployment.clusterName, priority: 2 },
  { key: 'version', title: 'Version', width: '6rem', cell: ({ deployment }) => deployment.version, priority: 3 },
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description }) => description,
    priority: 3,
  },
  {
    key: 'created',
    isLabelled: true,
    member: 'created_at',
    title: 'Registered',
    width: '8rem',
    priority: 2,
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  },
];

export function OperatorList() {
  const view = useListView('kubernetesOperators', KubernetesOperators, (result) => result.kubernetesOperators, {
    kinds: ['kubernetesOperator'],
  });
  return (
    <Page title="Kubernetes operators" lead="They keep domains, endpoints and policies as their clusters have them.">
      <Tabs label="Agents" tabs={fleetTabs} />
      <ListTable
        label="Kubernetes operators"
        columns={columns}
        view={view}
        nouns={['operator', 'operators']}
        consequence="What they have made stays; one that still runs registers again."
        href={({ id }) => objectPath('kubernetesOperator', id)}
        empty={
          <EmptyState title="No Kubernetes operators yet">
            An operator in a cluster registers itself, with an API key and the address of this gateway.
          </EmptyState>
        }
      />
    </Page>
  );
}

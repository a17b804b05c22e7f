// The list of cloud endpoints.

import { useList } from '../../../data/hooks/use-list.ts';
import { type CloudEndpointRowFragment, CloudEndpoints } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { cloudEndpointPath, listPaths, newPath, tabs } from '../navigation.ts';

const columns: Column<CloudEndpointRowFragment>[] = [
  { key: 'url', title: 'URL', width: '2fr', cell: ({ url }) => url },
  { key: 'description', title: 'Description', width: '2fr', cell: (row) => row.description, priority: 2 },
  {
    key: 'created',
    isLabelled: true,
    title: 'Created',
    width: '8rem',
    cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
    priority: 3,
  },
];

export function CloudEndpointList() {
  const list = useList(CloudEndpoints, {}, (result) => result.cloudEndpoints, { kinds: ['endpoint'] });
  return (
    <Page
      title="Cloud endpoints"
      actions={
        <LinkButton variant="primary" href={newPath(listPaths.cloud)}>
          New cloud endpoint
        </LinkButton>
      }
    >
      <Tabs label="Edges and what they use" tabs={tabs} />
      <Table
        label="Cloud endpoints"
        columns={columns}
        list={list}
        href={({ id }) => cloudEndpointPath(id)}
        empty={
          <EmptyState
            title="No cloud endpoints yet"
            action={<LinkButton href={newPath(listPaths.cloud)}>New cloud endpoint</LinkButton>}
          >
            A cloud endpoint is a URL that a traffic policy answers in the gateway itself, without an agent: a notice, a
            redirect, a sign-in before what an agent serves internally.
          </EmptyState>
        }
      />
    </Page>
  );
}

// Tunnel groups: the list, the form for a new one, and the page of one.

import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../../data/hooks/use-query.ts';
import { kindOf, objectPath } from '../../../data/routing/paths.ts';
import { useParam } from '../../../data/routing/use-param.ts';
import { Backend, type BackendRowFragment, Backends, DeleteBackend } from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { toast } from '../../../ui/feedback/toast.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../../ui/layout/page.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { DetailPage, NotYet } from '../detail-page.tsx';
import { Labels, labelsText } from '../labels.tsx';
import { listPaths, newPath } from '../navigation.ts';
import { CHOOSING_KINDS } from '../references/choosing-backends.ts';
import { TunnelCount } from '../tunnel-count.tsx';
import { BackendTabs } from './backend-tabs.tsx';
import { ChoosingBackendPage } from './choosing.tsx';
import { BackendForm } from './form.tsx';
import { TunnelsOfBackend } from './tunnels.tsx';

const KINDS = ['tunnelGroupBackend', 'tunnel'];
const crumbs = [{ title: 'Tunnel groups', href: listPaths.backends }];

const columns: Column<BackendRowFragment>[] = [
  { key: 'labels', title: 'Labels', width: '2fr', cell: ({ labels }) => <Labels labels={labels} /> },
  {
    key: 'description',
    member: 'description',
    title: 'Description',
    width: '2fr',
    cell: ({ description }) => description,
    priority: 2,
  },
  {
    key: 'tunnels',
    title: 'Live tunnels',
    width: '8rem',
    cell: ({ tunnels }) => <TunnelCount count={tunnels.length} />,
  },
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

export function BackendList() {
  const view = useListView('tunnelGroupBackends', Backends, (result) => result.tunnelGroupBackends, { kinds: KINDS });
  return (
    <Page
      title="Tunnel groups"
      actions={
        <LinkButton variant="primary" href={newPath(listPaths.backends)}>
          New tunnel group
        </LinkButton>
      }
    >
      <BackendTabs />
      <ListTable
        label="Tunnel groups"
        columns={columns}
        view={view}
        nouns={['tunnel group', 'tunnel groups']}
        href={({ id }) => objectPath('tunnelGroupBackend', id)}
        empty={
          <EmptyState
            title="No tunnel groups yet"
            action={<LinkButton href={newPath(listPaths.backends)}>New tunnel group</LinkButton>}
          >
            A tunnel group is every live tunnel that has certain labels. Edges and routes send their traffic to one.
          </EmptyState>
        }
      />
    </Page>
  );
}

export function NewBackend() {
  const { route } = useLocation();
  return (
    <Page title="New tunnel group" crumbs={crumbs}>
      <BackendForm
        onDone={(id) => route(objectPath('tunnelGroupBackend', id))}
        onCancel={() => route(listPaths.backends)}
      />
    </Page>
  );
}

/** The page of a backend of any kind. */
export function BackendPage() {
  const id = useParam('id');
  const kind = CHOOSING_KINDS.find((choosing) => choosing === kindOf(id));
  return kind ? <ChoosingBackendPage key={id} kind={kind} id={id} /> : <TunnelGroupPage id={id} />;
}

function TunnelGroupPage({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(Backend, { id }, { kinds: KINDS });
  const { route } = useLocation();
  const backend = data?.tunnelGroupBackend;
  if (!backend) return <NotYet title="Tunnel group" crumbs={crumbs} error={error} refetch={refetch} />;
  return (
    <DetailPage
      title={backend.description || labelsText(backend.labels)}
      badge={<TunnelCount count={backend.tunnels.length} />}
      crumbs={crumbs}
      noun="tunnel group"
      id={id}
      remove={DeleteBackend}
      consequence="Its tunnels stay. An edge, a route or a backend that sends traffic to it has to be changed first."
    >
      <TunnelsOfBackend backend={backend} />
      <Section title="Settings" lead="Traffic follows new labels at once.">
        <BackendForm
          key={id}
          backend={backend}
          onDone={() => toast('The tunnel group is changed.')}
          onCancel={() => route(listPaths.backends)}
        />
      </Section>
    </DetailPage>
  );
}

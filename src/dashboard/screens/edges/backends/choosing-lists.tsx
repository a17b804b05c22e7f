// The lists of backends that are no tunnel groups.

import { objectPath } from '../../../data/routing/paths.ts';
import {
  type FailoverBackendRowFragment,
  FailoverBackends,
  type HttpResponseBackendRowFragment,
  HttpResponseBackends,
  type StaticBackendRowFragment,
  StaticBackends,
  type WeightedBackendRowFragment,
  WeightedBackends,
} from '../../../generated/operations.ts';
import { LinkButton } from '../../../ui/button.tsx';
import { StatusTag } from '../../../ui/feedback/status-tag.tsx';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { type ListView, useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { newPath } from '../navigation.ts';
import { BACKEND_WORDS, type ChoosingKind, capitalized } from '../references/choosing-backends.ts';
import { BackendTabs } from './backend-tabs.tsx';

interface AnyRow {
  id: string;
  description: string;
  createdAt: string;
}

const description: Column<AnyRow> = {
  key: 'description',
  member: 'description',
  title: 'Description',
  width: '2fr',
  cell: (row) => row.description || row.id,
};
const created: Column<AnyRow> = {
  key: 'created',
  isLabelled: true,
  member: 'created_at',
  title: 'Created',
  width: '8rem',
  cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  priority: 3,
};

const weightedColumns: Column<WeightedBackendRowFragment>[] = [
  description,
  {
    key: 'backends',
    isLabelled: true,
    title: 'Weights',
    width: '1fr',
    cell: ({ backends }) => Object.values(backends).join(' : '),
  },
  created,
];
const failoverColumns: Column<FailoverBackendRowFragment>[] = [
  description,
  {
    key: 'backends',
    isLabelled: true,
    title: 'Backends',
    width: '1fr',
    cell: ({ backends }) => String(backends.length),
  },
  created,
];
const responseColumns: Column<HttpResponseBackendRowFragment>[] = [
  description,
  { key: 'status', title: 'Status', width: '5rem', cell: ({ statusCode }) => <StatusTag status={statusCode} /> },
  { key: 'body', member: 'body', title: 'Body', width: '2fr', cell: ({ body }) => body.slice(0, 200), priority: 2 },
  created,
];

const staticColumns: Column<StaticBackendRowFragment>[] = [
  { key: 'address', member: 'address', title: 'Address', width: '2fr', cell: ({ address }) => <code>{address}</code> },
  { key: 'tls', isLabelled: true, title: 'TLS', width: '5rem', cell: ({ tls }) => (tls.enabled ? 'yes' : 'no') },
  { ...description, priority: 2 },
  created,
];

export function WeightedBackendList() {
  const view = useListView('weightedBackends', WeightedBackends, (result) => result.weightedBackends, {
    kinds: ['weightedBackend'],
  });
  return <ChoosingList kind="weightedBackend" view={view} columns={weightedColumns} />;
}

export function FailoverBackendList() {
  const view = useListView('failoverBackends', FailoverBackends, (result) => result.failoverBackends, {
    kinds: ['failoverBackend'],
  });
  return <ChoosingList kind="failoverBackend" view={view} columns={failoverColumns} />;
}

export function HttpResponseList() {
  const view = useListView('httpResponseBackends', HttpResponseBackends, (result) => result.httpResponseBackends, {
    kinds: ['httpResponseBackend'],
  });
  return <ChoosingList kind="httpResponseBackend" view={view} columns={responseColumns} />;
}

export function StaticBackendList() {
  const view = useListView('staticBackends', StaticBackends, (result) => result.staticBackends, {
    kinds: ['staticBackend'],
  });
  return <ChoosingList kind="staticBackend" view={view} columns={staticColumns} />;
}

interface ChoosingListProps<Row> {
  kind: ChoosingKind;
  view: ListView<Row>;
  columns: Column<Row>[];
}

function ChoosingList<Row extends AnyRow>({ kind, view, columns }: ChoosingListProps<Row>) {
  const { noun, plural, listPath, purpose } = BACKEND_WORDS[kind];
  const title = capitalized(plural);
  return (
    <Page
      title={title}
      actions={
        <LinkButton variant="primary" href={newPath(listPath)}>
          New {noun}
        </LinkButton>
      }
    >
      <BackendTabs />
      <ListTable
        label={title}
        columns={columns}
        view={view}
        nouns={[noun, plural]}
        href={({ id }) => objectPath(kind, id)}
        empty={
          <EmptyState title={`No ${plural} yet`} action={<LinkButton href={newPath(listPath)}>New {noun}</LinkButton>}>
            {purpose}
          </EmptyState>
        }
      />
    </Page>
  );
}

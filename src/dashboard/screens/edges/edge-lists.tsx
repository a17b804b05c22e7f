// The lists of HTTPS, TLS and TCP edges, with the number of live tunnels behind each edge.

import { useMemo } from 'preact/hooks';
import { objectPath } from '../../data/routing/paths.ts';
import {
  type HttpsEdgeRowFragment,
  HttpsEdges,
  type TcpEdgeRowFragment,
  TcpEdges,
  type TlsEdgeRowFragment,
  TlsEdges,
} from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { type ListView, useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { SparklineCell } from '../traffic-history/sparkline-cell.tsx';
import { useSparklines } from '../traffic-history/use-sparklines.ts';
import { type EdgeKind, edgesCrumb, hostName, newPath, newTcpEdgePath, tabs } from './navigation.ts';
import { TunnelCount, useTunnelCounts } from './tunnel-count.tsx';

type Row = HttpsEdgeRowFragment | TlsEdgeRowFragment | TcpEdgeRowFragment;

interface Backend {
  enabled: boolean;
  backend: { id: string };
}

const KINDS = ['httpsEdge', 'tlsEdge', 'tcpEdge', 'httpsEdgeRoute'];

const names: Column<Row> = {
  key: 'names',
  title: 'Names',
  width: '3fr',
  cell: ({ hostports, id }) => (hostports?.length ? hostports.map(hostName).join(', ') : `${id} (no name yet)`),
};
const addresses: Column<Row> = {
  ...names,
  title: 'Addresses',
  cell: ({ hostports, id }) => hostports?.join(', ') ?? `${id} (no address yet)`,
};
const description: Column<Row> = {
  key: 'description',
  member: 'description',
  title: 'Description',
  width: '2fr',
  cell: (row) => row.description,
  priority: 2,
};
const routes: Column<Row> = {
  key: 'routes',
  title: 'Routes',
  width: '5rem',
  cell: (row) => ('routes' in row ? row.routes.length : ''),
  priority: 2,
  align: 'end',
};
const created: Column<Row> = {
  key: 'created',
  isLabelled: true,
  member: 'created_at',
  title: 'Created',
  width: '8rem',
  cell: ({ createdAt }) => <RelativeTime at={createdAt} />,
  priority: 3,
};

export function HttpsEdgeList() {
  const view = useListView('httpsEdges', HttpsEdges, (result) => result.httpsEdges, { kinds: KINDS });
  return (
    <EdgeList
      view={view as ListView<Row>}
      kind="httpsEdge"
      empty="An HTTPS edge answers names of yours, and sends each request by its path to agents that are chosen by labels: through a circuit breaker, a password, a traffic policy, …"
    />
  );
}

export function TlsEdgeList() {
  const view = useListView('tlsEdges', TlsEdges, (result) => result.tlsEdges, { kinds: KINDS });
  return (
    <EdgeList
      view={view as ListView<Row>}
      kind="tlsEdge"
      empty="A TLS edge answers names of yours, and sends each TLS connection as a whole to agents that are chosen by labels."
    />
  );
}

export function TcpEdgeList() {
  const view = useListView('tcpEdges', TcpEdges, (result) => result.tcpEdges, { kinds: KINDS });
  return (
    <EdgeList
      view={view as ListView<Row>}
      kind="tcpEdge"
      empty="A TCP edge answers reserved TCP addresses, and sends each connection to agents that are chosen by labels: a database or a shell that several devices stand in for."
    />
  );
}

interface EdgeListProps {
  view: ListView<Row>;
  kind: EdgeKind;
  empty: string;
}

/** What an edge of each kind is called, and the form for a new one. */
const KIND_FACTS: Record<EdgeKind, { noun: string; create: string }> = {
  httpsEdge: { noun: 'HTTPS edge', create: newPath(edgesCrumb.href) },
  tlsEdge: { noun: 'TLS edge', create: `${newPath(edgesCrumb.href)}?kind=tls` },
  tcpEdge: { noun: 'TCP edge', create: newTcpEdgePath },
};

function EdgeList({ view, kind, empty }: EdgeListProps) {
  const { noun, create } = KIND_FACTS[kind];
  const { list } = view;
  const visibleIds = new Set(list.visibleIds.value);
  const countTunnels = useTunnelCounts(list.rows.filter(({ id }) => visibleIds.has(id)).flatMap(enabledBackendIds));
  const sparklines = useSparklines(list.visibleIds);
  const columns = useMemo<Column<Row>[]>(() => {
    const tunnels: Column<Row> = {
      key: 'tunnels',
      title: 'Behind it',
      width: '8rem',
      cell: (row) => <TunnelCountCell count={countTunnels(enabledBackendIds(row))} />,
    };
    const hour: Column<Row> = {
      key: 'hour',
      title: 'Last hour',
      width: '6.5rem',
      cell: ({ id }) => <SparklineCell id={id} sparklines={sparklines} />,
      priority: 2,
    };
    return [
      kind === 'tcpEdge' ? addresses : names,
      description,
      ...(kind === 'httpsEdge' ? [routes] : []),
      tunnels,
      hour,
      created,
    ];
  }, [countTunnels, sparklines, kind]);
  return (
    <Page
      title={`${noun}s`}
      actions={
        <LinkButton variant="primary" href={create}>
          New {noun}
        </LinkButton>
      }
    >
      <Tabs label="Edges and what they use" tabs={tabs} />
      <ListTable
        label={`${noun}s`}
        columns={columns}
        view={view}
        nouns={[noun, `${noun}s`]}
        href={({ id }) => objectPath(kind, id)}
        empty={
          <EmptyState title={`No ${noun}s yet`} action={<LinkButton href={create}>New {noun}</LinkButton>}>
            {empty}
          </EmptyState>
        }
      />
    </Page>
  );
}

function TunnelCountCell({ count }: { count: number | 'chosen' | undefined }) {
  return count === undefined ? <span class="muted">…</span> : <TunnelCount count={count} />;
}

/** The ids of the tunnel groups that get traffic of an edge. */
export function enabledBackendIds(
  row: { routes: readonly { backend: Backend | null }[] } | { backend: Backend | null },
): string[] {
  const backends = 'routes' in row ? row.routes.map(({ backend }) => backend) : [row.backend];
  return backends.flatMap((backend) => (backend?.enabled ? [backend.backend.id] : []));
}

import type { ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { kindOf, objectPath, pathTo } from '../../data/routing/paths.ts';
import { type EndpointRowFragment, Endpoints, OfflineEndpoints } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import { type Column, Table } from '../../ui/table/table.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { StartCommand } from '../credentials/start-command.tsx';
import { CertificateWarningList } from '../domains/provisioning/warnings.tsx';
import { cloudEndpointPath, listPaths, newPath } from '../edges/navigation.ts';
import { SparklineCell } from '../traffic-history/sparkline-cell.tsx';
import { type SparklinesById, useSparklines } from '../traffic-history/use-sparklines.ts';
import { EndpointDot } from './endpoint-dot.tsx';
import { EndpointTabs } from './navigation.tsx';
import { offlineColumns } from './offline-list.tsx';
import { ByteRateCell, RequestRateCell } from './traffic-cells.tsx';
import { type Traffic, useTraffic } from './use-traffic.ts';

/** The change feed has no events for round trips, so they are polled. Heartbeats are sent every 10 s. */
const ROUND_TRIP_POLL_MS = 10_000;
/** How many recent offline endpoints are shown below the live ones. */
const MAX_RECENTLY_OFFLINE = 5;

export function LiveEndpointList() {
  const view = useListView('endpoints', Endpoints, (result) => result.endpoints, {
    kinds: ['endpoint'],
    pollMs: ROUND_TRIP_POLL_MS,
  });
  const { data } = useQuery(OfflineEndpoints, { first: MAX_RECENTLY_OFFLINE }, { kinds: ['offlineEndpoint'] });
  const offline = data?.offlineEndpoints;
  const traffic = useTraffic(view.list.visibleIds);
  const sparklines = useSparklines(view.list.visibleIds);
  const columns = useMemo(() => columnsOf(traffic, sparklines), [traffic, sparklines]);
  const recentlyOffline = offline?.nodes ?? [];
  return (
    <Page
      title="Endpoints"
      lead="Public addresses that are served now, and who is behind them."
      actions={<LinkButton href={newPath(listPaths.cloud)}>New cloud endpoint</LinkButton>}
    >
      <CertificateWarningList />
      <EndpointTabs />
      <ListTable
        label="Live endpoints"
        columns={columns}
        view={view}
        nouns={['endpoint', 'endpoints']}
        href={(row) => objectPath('endpoint', row.id)}
        empty={
          <EmptyState title="Nothing is online" action={<StartCommand acl={[]} />}>
            An endpoint turns up here as soon as an agent serves it. This line starts one; its authtoken is that of a{' '}
            <a href={pathTo('credentials')}>credential</a>, shown when one is created.
          </EmptyState>
        }
      />
      {recentlyOffline.length > 0 && (
        <Section
          title="Went offline"
          actions={
            (offline?.totalCount ?? 0) > MAX_RECENTLY_OFFLINE && (
              <a href={pathTo('endpoints', 'offline')}>All that are offline</a>
            )
          }
        >
          <Table
            label="Endpoints that went offline lately"
            columns={offlineColumns}
            rows={recentlyOffline}
            href={(row) => objectPath('offlineEndpoint', row.id)}
          />
        </Section>
      )}
    </Page>
  );
}

function columnsOf(
  traffic: ReadonlySignal<Traffic>,
  sparklines: ReadonlySignal<SparklinesById>,
): Column<EndpointRowFragment>[] {
  return [
    { key: 'url', member: 'public_url', title: 'Address', width: '4fr', cell: (row) => row.publicUrl },
    { key: 'state', title: 'State', width: '10.5rem', cell: (row) => <EndpointDot endpoint={row} /> },
    {
      key: 'copy',
      title: 'Copy',
      width: '3.5rem',
      priority: 2,
      cell: (row) => <CopyButton text={row.publicUrl} label={`the address ${row.publicUrl}`} showsText={false} />,
    },
    { key: 'behind', title: 'Agent', width: '2fr', priority: 3, cell: agentCell },
    {
      key: 'up',
      member: 'created_at',
      title: 'Up',
      width: '6rem',
      priority: 3,
      cell: (row) => <RelativeTime at={row.createdAt} as="since" />,
    },
    {
      key: 'hour',
      title: 'Last hour',
      width: '6.5rem',
      priority: 3,
      cell: (row) => <SparklineCell id={row.id} sparklines={sparklines} />,
    },
    {
      key: 'requests',
      title: 'Requests',
      width: '6.5rem',
      align: 'end',
      cell: (row) => <RequestRateCell id={row.id} traffic={traffic} />,
    },
    {
      key: 'bytes',
      title: 'Bytes',
      width: '6rem',
      align: 'end',
      priority: 3,
      cell: (row) => <ByteRateCell id={row.id} traffic={traffic} />,
    },
  ];
}

function agentCell({ id, type, edge, agents, tunnelSession }: EndpointRowFragment) {
  if (type === 'CLOUD') return <a href={cloudEndpointPath(id)}>policy</a>;
  if (edge) {
    return (
      <>
        <a href={objectPath(kindOf(edge.id) ?? '', edge.id)}>edge</a>, {agents} {agents === 1 ? 'agent' : 'agents'}
      </>
    );
  }
  return tunnelSession ? `${tunnelSession.agentVersion} at ${tunnelSession.ip}` : <span class="muted">–</span>;
}

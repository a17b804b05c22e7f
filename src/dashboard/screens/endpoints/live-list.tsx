import type { ReadonlySignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useList } from '../../data/hooks/use-list.ts';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { type EndpointRowFragment, Endpoints, OfflineEndpoints } from '../../generated/operations.ts';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { StartLine } from '../credentials/start-command.tsx';
import { EndpointDot } from './endpoint-dot.tsx';
import { EndpointTabs } from './navigation.tsx';
import { offlineColumns } from './offline-list.tsx';
import { BytesBothWays, Requests } from './traffic-cells.tsx';
import { type Traffic, useTraffic } from './use-traffic.ts';

/** Round trips are not told of: heartbeats go every 10 s. */
const ROUND_TRIPS_MS = 10_000;
/** So many of those that went offline are shown below the live ones. */
const OFFLINE_BELOW = 5;

export function LiveEndpoints() {
  const list = useList(Endpoints, {}, (result) => result.endpoints, { kinds: ['endpoint'], pollMs: ROUND_TRIPS_MS });
  const { data } = useQuery(OfflineEndpoints, { first: OFFLINE_BELOW }, { kinds: ['offlineEndpoint'] });
  const offline = data?.offlineEndpoints;
  const traffic = useTraffic(list.visibleIds);
  const columns = useMemo(() => columnsOf(traffic), [traffic]);
  const lately = offline?.nodes ?? [];
  return (
    <Page title="Endpoints" lead="Public addresses that answer now, and who is behind them.">
      <EndpointTabs live={list.totalCount} offline={offline?.totalCount} />
      <Table
        label="Live endpoints"
        columns={columns}
        list={list}
        href={(row) => objectPath('endpoint', row.id)}
        empty={
          <EmptyState title="Nothing is online" action={<StartLine acl={[]} />}>
            An endpoint turns up here as soon as an agent serves it. This line starts one; its authtoken is that of a{' '}
            <a href={pathTo('credentials')}>credential</a>, shown when one is created.
          </EmptyState>
        }
      />
      {lately.length > 0 && (
        <Section
          title="Went offline"
          actions={
            (offline?.totalCount ?? 0) > OFFLINE_BELOW && (
              <a href={pathTo('endpoints', 'offline')}>All that are offline</a>
            )
          }
        >
          <Table
            label="Endpoints that went offline lately"
            columns={offlineColumns}
            rows={lately}
            href={(row) => objectPath('offlineEndpoint', row.id)}
          />
        </Section>
      )}
    </Page>
  );
}

function columnsOf(traffic: ReadonlySignal<Traffic>): Column<EndpointRowFragment>[] {
  return [
    { key: 'url', title: 'Address', width: '4fr', cell: (row) => row.publicUrl },
    { key: 'state', title: 'State', width: '6.5rem', cell: (row) => <EndpointDot endpoint={row} /> },
    {
      key: 'copy',
      title: 'Copy',
      width: '3.5rem',
      priority: 2,
      cell: (row) => <CopyButton text={row.publicUrl} label={`the address ${row.publicUrl}`} showsText={false} />,
    },
    { key: 'behind', title: 'Agent', width: '2fr', priority: 2, cell: behind },
    {
      key: 'up',
      title: 'Up',
      width: '6rem',
      priority: 3,
      cell: (row) => <RelativeTime at={row.createdAt} as="since" />,
    },
    {
      key: 'requests',
      title: 'Requests',
      width: '6.5rem',
      align: 'end',
      cell: (row) => <Requests id={row.id} traffic={traffic} />,
    },
    {
      key: 'bytes',
      title: 'Bytes',
      width: '6rem',
      align: 'end',
      priority: 2,
      cell: (row) => <BytesBothWays id={row.id} traffic={traffic} />,
    },
  ];
}

function behind({ edge, agents, tunnelSession }: EndpointRowFragment) {
  if (edge) {
    return (
      <>
        <a href={objectPath(edge.id.startsWith('edgtls_') ? 'tlsEdge' : 'httpsEdge', edge.id)}>edge</a>, {agents}{' '}
        {agents === 1 ? 'agent' : 'agents'}
      </>
    );
  }
  return tunnelSession ? `${tunnelSession.agentVersion} at ${tunnelSession.ip}` : <span class="quiet">–</span>;
}

import { useList } from '../../data/hooks/use-list.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { type AgentRowFragment, Agents } from '../../generated/operations.ts';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { StartCommand } from '../credentials/start-command.tsx';
import { RoundTrip } from './round-trip.tsx';
import { tunnelName } from './tunnel-columns.tsx';

/** The change feed has no events for round trips, so they are polled. Heartbeats are sent every 10 s. */
const ROUND_TRIP_POLL_MS = 5000;

export function AgentList() {
  const list = useList(Agents, {}, (result) => result.tunnelSessions, {
    kinds: ['tunnelSession', 'tunnel'],
    pollMs: ROUND_TRIP_POLL_MS,
  });
  return (
    <Page title="Agents" lead="Programs that are connected now, each in a session of its own, and serve endpoints.">
      <Table
        label="Agents"
        columns={columns}
        list={list}
        href={(row) => objectPath('tunnelSession', row.id)}
        empty={
          <EmptyState title="No agent is connected" action={<StartCommand acl={[]} />}>
            This line starts one; its authtoken is that of a <a href={pathTo('credentials')}>credential</a>, shown when
            one is created.
          </EmptyState>
        }
      />
    </Page>
  );
}

const columns: Column<AgentRowFragment>[] = [
  { key: 'ip', title: 'Address', width: '1.5fr', cell: (row) => row.ip },
  {
    key: 'state',
    title: 'State',
    width: '6.5rem',
    cell: (row) => <StatusDot state="live" roundTripAt={row.roundTrip?.at} />,
  },
  { key: 'serves', title: 'Serves', width: '3fr', cell: servedTunnels },
  { key: 'version', title: 'Version', width: '5rem', priority: 2, cell: (row) => row.agentVersion },
  {
    key: 'system',
    title: 'System',
    width: '1fr',
    priority: 3,
    cell: ({ os, arch }) => [os, arch].filter(Boolean).join(', '),
  },
  {
    key: 'trip',
    title: 'Last round trip',
    width: '11rem',
    priority: 2,
    cell: (row) => <RoundTrip roundTrip={row.roundTrip} />,
  },
  {
    key: 'started',
    title: 'Connected',
    width: '6.5rem',
    cell: (row) => <RelativeTime at={row.startedAt} as="since" />,
    priority: 2,
  },
];

function servedTunnels({ tunnels: [first, ...others] }: AgentRowFragment) {
  if (!first) return <span class="muted">nothing</span>;
  return others.length === 0 ? tunnelName(first) : `${tunnelName(first)} and ${others.length} more`;
}

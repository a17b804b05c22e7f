import { kindOf, objectPath } from '../../data/routing/paths.ts';
import { AllEndpoints, type AnyEndpointRowFragment } from '../../generated/operations.ts';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { Count } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { ownerName } from '../credentials/owner.tsx';
import { EndpointDot } from './endpoint-dot.tsx';
import { EndpointTabs } from './navigation.tsx';

/** The change feed has no events for round trips, so they are polled. Heartbeats are sent every 10 s. */
const ROUND_TRIP_POLL_MS = 10_000;

/** Those that are online and those that are offline, by one query. */
export function AllEndpointList() {
  const view = useListView('allEndpoints', AllEndpoints, (result) => result.allEndpoints, {
    kinds: ['endpoint', 'offlineEndpoint'],
    pollMs: ROUND_TRIP_POLL_MS,
    isOrdered: true,
  });
  return (
    <Page title="All endpoints" lead="Public addresses, online and offline; what changed last before all.">
      <EndpointTabs />
      <ListTable
        label="All endpoints"
        columns={columns}
        view={view}
        nouns={['endpoint', 'endpoints']}
        href={({ id }) => objectPath(kindOf(id) ?? '', id)}
        empty={
          <EmptyState title="No endpoints yet">
            An endpoint turns up here as soon as an agent serves it, and stays for 30 days when it goes offline.
          </EmptyState>
        }
      />
    </Page>
  );
}

const columns: Column<AnyEndpointRowFragment>[] = [
  { key: 'url', member: 'public_url', title: 'Address', width: '4fr', cell: (row) => row.publicUrl },
  { key: 'state', member: 'state', title: 'State', width: '10.5rem', cell: stateCell },
  { key: 'since', member: 'since', title: 'Since', width: '7rem', cell: (row) => <RelativeTime at={row.since} /> },
  {
    key: 'requests',
    member: 'requests_last_day',
    title: 'Requests, 24 h',
    width: '8.5rem',
    priority: 2,
    cell: (row) => <Count value={row.requestsLastDay} />,
  },
  {
    key: 'name',
    member: 'name',
    title: 'Name',
    width: '2fr',
    priority: 3,
    cell: (row) => row.name || <span class="muted">–</span>,
  },
  { key: 'agent', member: 'agent.name', title: 'Agent', width: '2fr', priority: 2, cell: agentCell },
  {
    key: 'owner',
    member: 'principal.name',
    title: 'Owner',
    width: '2fr',
    priority: 3,
    cell: ({ principal }) => (principal ? ownerName(principal) : <span class="muted">–</span>),
  },
];

function stateCell(row: AnyEndpointRowFragment) {
  if (row.__typename === 'Endpoint') return <EndpointDot endpoint={row} />;
  return (
    <span title={row.reason}>
      <StatusDot state="off" />
    </span>
  );
}

function agentCell({ agent }: AnyEndpointRowFragment) {
  return agent ? <a href={objectPath('agent', agent.id)}>{agent.name}</a> : <span class="muted">–</span>;
}

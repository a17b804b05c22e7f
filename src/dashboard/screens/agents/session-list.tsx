import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { type AgentSessionRowFragment, AgentSessions } from '../../generated/operations.ts';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Page } from '../../ui/layout/page.tsx';
import { Tabs } from '../../ui/layout/tabs.tsx';
import { ListTable } from '../../ui/list/list-table.tsx';
import { useListView } from '../../ui/list/use-list-view.ts';
import type { Column } from '../../ui/table/table.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { fleetTabs } from './navigation.ts';

const columns: Column<AgentSessionRowFragment>[] = [
  { key: 'agent', title: 'Agent', width: '2fr', cell: ({ agent, id }) => agent?.name ?? id },
  { key: 'ip', member: 'ip', title: 'Address', width: '1.5fr', cell: ({ ip }) => ip },
  {
    key: 'version',
    member: 'agent_version',
    title: 'Version',
    width: '6rem',
    priority: 2,
    cell: ({ agentVersion }) => agentVersion,
  },
  { key: 'transport', title: 'Transport', width: '7rem', priority: 3, cell: ({ transport }) => transport },
  { key: 'tunnels', title: 'Tunnels', width: '5rem', align: 'end', priority: 2, cell: ({ tunnels }) => tunnels.length },
  {
    key: 'since',
    member: 'started_at',
    title: 'Connected',
    width: '7rem',
    cell: ({ startedAt }) => <RelativeTime at={startedAt} as="since" />,
  },
];

/** The connections that agents have now. */
export function SessionList() {
  const view = useListView('tunnelSessions', AgentSessions, (result) => result.tunnelSessions, {
    kinds: ['tunnelSession'],
  });
  return (
    <Page title="Sessions" lead="The connections that agents have now.">
      <Tabs tabs={fleetTabs} label="Kinds of agents and keys" />
      <ListTable
        label="Sessions"
        columns={columns}
        view={view}
        nouns={['session', 'sessions']}
        href={({ id }) => objectPath('tunnelSession', id)}
        empty={
          <EmptyState title="No agent is connected">
            Those that were are in the <a href={pathTo('agents')}>fleet</a>.
          </EmptyState>
        }
      />
    </Page>
  );
}

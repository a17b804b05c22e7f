import { useLocation } from 'preact-iso/router';
import { listVariables } from '../../../data/routing/list-state.ts';
import { objectPath, pathTo } from '../../../data/routing/paths.ts';
import { FleetAgents, type FleetRowFragment } from '../../../generated/operations.ts';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Page } from '../../../ui/layout/page.tsx';
import { Tabs } from '../../../ui/layout/tabs.tsx';
import { ListTable } from '../../../ui/list/list-table.tsx';
import { useListView } from '../../../ui/list/use-list-view.ts';
import type { Column } from '../../../ui/table/table.tsx';
import { StartCommand } from '../../credentials/start-command.tsx';
import { AgentState } from '../agent-state.tsx';
import { LabelTags } from '../label-tags.tsx';
import { fleetTabs } from '../navigation.ts';
import { CommandSelection } from './command-selection.tsx';
import { FleetGroups } from './fleet-groups.tsx';
import { OnlineFilter, useOnline } from './online-filter.tsx';

export function FleetList() {
  const { route } = useLocation();
  const online = useOnline();
  const view = useListView('agents', FleetAgents, (result) => result.agents, {
    kinds: ['agent'],
    variables: { online },
  });
  return (
    <Page title="Agents" lead="Programs that connect to serve endpoints, also those that are offline now.">
      <Tabs tabs={fleetTabs} label="Kinds of agents and keys" />
      <FleetGroups />
      <ListTable
        label="Agents"
        columns={columns}
        view={view}
        nouns={['agent', 'agents']}
        consequence="The history of their sessions goes with them; one that connects again is a new agent."
        ownControl={<OnlineFilter />}
        clearOwn={() => route(pathTo('agents'))}
        selectionActions={(selected) => (
          <CommandSelection selected={selected} variables={{ online, ...listVariables(view.state) }} />
        )}
        href={({ id }) => objectPath('agent', id)}
        cardLines={3}
        empty={<NoAgentYet />}
      />
    </Page>
  );
}

function NoAgentYet() {
  return (
    <EmptyState title="No agent has connected yet" action={<StartCommand acl={[]} />}>
      This line starts one; its authtoken is that of a <a href={pathTo('credentials')}>credential</a>, shown when one is
      created.
    </EmptyState>
  );
}

const columns: Column<FleetRowFragment>[] = [
  { key: 'name', member: 'name', title: 'Name', width: '2fr', cell: ({ name }) => name },
  { key: 'state', member: 'last_seen_at', title: 'State', width: '11rem', cell: (row) => <AgentState agent={row} /> },
  { key: 'labels', title: 'Labels', width: '2fr', cell: ({ labels }) => <LabelTags labels={labels} /> },
  { key: 'version', member: 'version', title: 'Version', width: '6rem', priority: 2, cell: ({ version }) => version },
  { key: 'ip', member: 'ip', title: 'Address', width: '1fr', priority: 2, cell: ({ ip }) => ip },
  {
    key: 'system',
    title: 'System',
    width: '1fr',
    priority: 3,
    cell: ({ os, arch }) => [os, arch].filter(Boolean).join(', '),
  },
];

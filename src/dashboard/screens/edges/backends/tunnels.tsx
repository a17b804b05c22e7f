// The live tunnels of a group.

import { useQuery } from '../../../data/hooks/use-query.ts';
import { objectPath } from '../../../data/routing/paths.ts';
import { type BackendRowFragment, TunnelsOfGroup, type TunnelsOfGroupQuery } from '../../../generated/operations.ts';
import { EmptyState } from '../../../ui/layout/empty-state.tsx';
import { Section } from '../../../ui/layout/page.tsx';
import { type Column, Table } from '../../../ui/table/table.tsx';
import { RelativeTime } from '../../../ui/text/relative-time.tsx';
import { labelsCommand } from '../../credentials/agent-command.ts';
import { Labels } from '../labels.tsx';

/** The limit of `nodes` in the API. */
const MAX_SHOWN = 100;

type Node = NonNullable<NonNullable<TunnelsOfGroupQuery['nodes']>[number]>;
type Tunnel = Extract<Node, { forwardsTo: string }>;

const columns: Column<Tunnel>[] = [
  { key: 'to', title: 'Forwards to', width: '2fr', cell: ({ forwardsTo, id }) => forwardsTo || id },
  { key: 'labels', title: 'Labels', width: '2fr', cell: ({ labels }) => <Labels labels={labels} />, priority: 2 },
  {
    key: 'since',
    title: 'Live for',
    width: '9rem',
    cell: ({ startedAt }) => <RelativeTime at={startedAt} as="since" />,
  },
];

export function TunnelsOfBackend({
  backend: { tunnels, labels },
}: {
  backend: Pick<BackendRowFragment, 'tunnels' | 'labels'>;
}) {
  const ids = tunnels.slice(0, MAX_SHOWN).map(({ id }) => id);
  const { data } = useQuery(
    TunnelsOfGroup,
    { ids },
    { kinds: ['tunnel'], keepPreviousData: true, skip: ids.length === 0 },
  );
  const rows = (data?.nodes ?? []).filter(
    (node): node is Tunnel => node !== null && 'forwardsTo' in node && ids.includes(node.id),
  );
  const more = tunnels.length - ids.length;
  return (
    <Section title="Live tunnels" lead={more > 0 && `The newest ${MAX_SHOWN}; there are ${more} more.`}>
      <Table
        label="Live tunnels"
        columns={columns}
        rows={ids.length > 0 ? rows : []}
        href={({ tunnelSession }) => objectPath('tunnelSession', tunnelSession.id)}
        empty={
          <EmptyState title="No tunnel has these labels now" command={commandFor(labels)}>
            Visitors get an error until an agent opens a tunnel with all of the labels:
          </EmptyState>
        }
      />
    </Section>
  );
}

function commandFor(labels: Record<string, string>): string {
  return `TUNNEL_AUTHTOKEN=… node agent.js ${labelsCommand(labels)}`;
}

import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath } from '../../data/routing/paths.ts';
import { CredentialSessions, type CredentialSessionsQuery } from '../../generated/operations.ts';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { Count } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { StartCommand } from './start-command.tsx';

/** The limit of `nodes` in the API. */
const MAX_SHOWN = 100;
/** The change feed has no events for round trips, so they are polled. Heartbeats are sent every 10 s. */
const ROUND_TRIP_POLL_MS = 5000;

type Node = NonNullable<NonNullable<CredentialSessionsQuery['nodes']>[number]>;
type Row = Extract<Node, { ip: string }>;

const columns: Column<Row>[] = [
  { key: 'ip', title: 'Address', width: '1.5fr', cell: ({ ip }) => ip },
  {
    key: 'state',
    title: 'State',
    width: '8rem',
    cell: ({ roundTrip }) => <StatusDot state="live" roundTripAt={roundTrip?.at} />,
  },
  { key: 'version', title: 'Version', width: '1fr', cell: ({ agentVersion }) => agentVersion },
  {
    key: 'system',
    title: 'System',
    width: '1fr',
    priority: 2,
    cell: ({ os, arch }) => [os, arch].filter(Boolean).join(', '),
  },
  {
    key: 'since',
    title: 'Connected',
    width: '7rem',
    cell: ({ startedAt }) => <RelativeTime at={startedAt} as="since" />,
  },
  {
    key: 'tunnels',
    title: 'Tunnels',
    width: '5rem',
    align: 'end',
    priority: 2,
    cell: ({ tunnels }) => <Count value={tunnels.length} />,
  },
];

/** The agents that are connected with a credential. */
export function AgentSessions({ ids, acl }: { ids: readonly string[]; acl: readonly string[] }) {
  const shown = ids.slice(0, MAX_SHOWN);
  const { data, error, refetch } = useQuery(
    CredentialSessions,
    { ids: shown },
    {
      kinds: ['tunnelSession', 'tunnel'],
      pollMs: ROUND_TRIP_POLL_MS,
      keepPreviousData: true,
      skip: shown.length === 0,
    },
  );
  const rows = (data?.nodes ?? []).filter(
    (node): node is Row => node !== null && 'ip' in node && ids.includes(node.id),
  );
  return (
    <Section title="Agents that are connected with it">
      <ErrorNote error={error} retry={() => void refetch()} />
      {ids.length === 0 ? (
        <EmptyState title="No agent is connected with it">
          <p>This line starts one, with the authtoken that was shown when the credential was created.</p>
          <StartCommand acl={acl} />
        </EmptyState>
      ) : data ? (
        <Table
          label="Agents connected with this credential"
          columns={columns}
          rows={rows}
          href={({ id }) => objectPath('tunnelSession', id)}
        />
      ) : (
        !error && <Skeleton />
      )}
      {ids.length > MAX_SHOWN && (
        <p class="muted">
          The newest {MAX_SHOWN} of {ids.length} are shown.
        </p>
      )}
    </Section>
  );
}

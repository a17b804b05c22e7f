import { objectPath } from '../../data/routing/paths.ts';
import { Section } from '../../ui/layout/page.tsx';
import { type Column, Table } from '../../ui/table/table.tsx';
import { formatDuration, RelativeTime } from '../../ui/text/relative-time.tsx';
import { RoundTrip } from './round-trip.tsx';
import type { ShownAgent } from './shown-agent.ts';

type Session = ShownAgent['sessions']['nodes'][number];
type PastSession = ShownAgent['pastSessions'][number];

const sessionColumns: Column<Session>[] = [
  { key: 'ip', title: 'Address', width: '1.5fr', cell: ({ ip }) => ip },
  { key: 'version', title: 'Version', width: '1fr', priority: 2, cell: ({ agentVersion }) => agentVersion },
  {
    key: 'trip',
    title: 'Last round trip',
    width: '11rem',
    cell: ({ roundTrip }) => <RoundTrip roundTrip={roundTrip} />,
  },
  {
    key: 'since',
    title: 'Connected',
    width: '7rem',
    cell: ({ startedAt }) => <RelativeTime at={startedAt} as="since" />,
  },
];

const pastColumns: Column<PastSession>[] = [
  {
    key: 'ended',
    isLabelled: true,
    title: 'Ended',
    width: '7rem',
    cell: ({ endedAt }) => <RelativeTime at={endedAt} />,
  },
  { key: 'reason', title: 'Why', width: '3fr', cell: ({ reason }) => reason },
  {
    key: 'lasted',
    title: 'Lasted',
    width: '7rem',
    cell: ({ startedAt, endedAt }) => formatDuration((Date.parse(endedAt) - Date.parse(startedAt)) / 1000),
  },
  { key: 'ip', title: 'Address', width: '1fr', priority: 2, cell: ({ ip }) => ip },
  { key: 'version', title: 'Version', width: '6rem', priority: 3, cell: ({ agentVersion }) => agentVersion },
];

/** The sessions that an agent has now, and those that have ended. */
export function SessionHistory({ agent: { sessions, pastSessions } }: { agent: ShownAgent }) {
  return (
    <>
      {sessions.nodes.length > 0 && (
        <Section title="Its sessions now">
          <Table
            label="Sessions of this agent"
            columns={sessionColumns}
            rows={sessions.nodes}
            href={({ id }) => objectPath('tunnelSession', id)}
          />
        </Section>
      )}
      <Section title="Earlier sessions">
        <Table
          label="Earlier sessions of this agent"
          columns={pastColumns}
          rows={pastSessions}
          rowKey={({ sessionId }) => sessionId}
          cardLines={3}
          empty={<p class="muted">None has ended yet.</p>}
        />
      </Section>
    </>
  );
}

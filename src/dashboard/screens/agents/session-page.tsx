import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { useParam } from '../../data/routing/use-param.ts';
import { Agent, type AgentQuery } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { Table } from '../../ui/table/table.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { AgentCommands, RefusedCommands } from './commands.tsx';
import { CredentialLink } from './credential-link.tsx';
import { agentCrumbs } from './navigation.ts';
import { RoundTrip } from './round-trip.tsx';
import { tunnelColumns, tunnelPath } from './tunnel-columns.tsx';

const KINDS = ['tunnelSession', 'tunnel'];
const ROUND_TRIP_POLL_MS = 5000;

type Session = NonNullable<AgentQuery['tunnelSession']>;

export function SessionPage() {
  const id = useParam('id');
  const { data, error, refetch } = useQuery(Agent, { id }, { kinds: KINDS, pollMs: ROUND_TRIP_POLL_MS });
  const session = data?.tunnelSession;
  if (error?.code === 'NOT_FOUND') return <AgentNotConnected />;
  if (!session) {
    return (
      <Page title="Agent" crumbs={agentCrumbs}>
        {error ? <ErrorNote error={error} retry={() => void refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const { ip, agentVersion, roundTrip, tunnels, mayCommand, refusedCommands } = session;
  return (
    <Page
      title={`Agent ${agentVersion} at ${ip}`}
      badge={<StatusDot state="live" roundTripAt={roundTrip?.at} />}
      crumbs={agentCrumbs}
      actions={mayCommand ? <AgentCommands id={id} name={ip} refused={refusedCommands ?? []} /> : undefined}
    >
      <ErrorNote error={error} />
      {!mayCommand && (
        <p class="muted">
          It is connected with a credential of another owner: only that owner and admins can restart, update or stop it.
        </p>
      )}
      {mayCommand && <RefusedCommands refused={refusedCommands ?? []} />}
      <SessionDetails session={session} />
      <Section title="Its tunnels">
        <Table
          label="Tunnels of this agent"
          columns={tunnelColumns}
          rows={tunnels}
          href={tunnelPath}
          empty={<p class="muted">It serves nothing now.</p>}
        />
      </Section>
      <MetadataSection text={session.metadata} />
      <AuditHistory id={id} />
    </Page>
  );
}

function SessionDetails({ session }: { session: Session }) {
  const { os, arch, credential, agent } = session;
  return (
    <DescriptionList
      items={[
        agent && { name: 'Agent', value: <a href={objectPath('agent', agent.id)}>{agent.name}</a> },
        { name: 'Address', value: session.ip },
        { name: 'Version', value: session.agentVersion },
        { name: 'System', value: [os, arch].filter(Boolean).join(', ') },
        { name: 'Last round trip', value: <RoundTrip roundTrip={session.roundTrip} /> },
        { name: 'Connected', value: <RelativeTime at={session.startedAt} as="since" /> },
        {
          name: 'Credential',
          value: credential ? <CredentialLink id={credential.id} /> : <span class="muted">deleted</span>,
        },
        { name: 'Program', value: session.userAgent },
        { name: 'Speaks', value: session.transport },
        session.region !== '' && { name: 'Region', value: session.region },
        { name: 'Node of the gateway', value: <code>{session.nodeId}</code> },
        { name: 'Id', value: <CopyButton text={session.id} label="the id" /> },
      ]}
    />
  );
}

function AgentNotConnected() {
  return (
    <Page title="Agent" badge={<StatusDot state="off">not connected</StatusDot>} crumbs={agentCrumbs}>
      <EmptyState
        title="This agent isn’t connected any more"
        action={<LinkButton href={pathTo('agents')}>All agents</LinkButton>}
      >
        Its session has ended. When it connects again, it has another session with another id. What it served, and why
        it went, is among the <a href={pathTo('endpoints', 'offline')}>offline endpoints</a>.
      </EmptyState>
    </Page>
  );
}

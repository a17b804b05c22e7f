import { useSignal } from '@preact/signals';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { EndpointDomain, EndpointTrafficHistory, type LiveEndpointFactsFragment } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Note } from '../../ui/feedback/note.tsx';
import { AuditHistory } from '../../ui/history/audit-history.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { Milliseconds } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { CredentialLink } from '../agents/credential-link.tsx';
import { cloudEndpointPath } from '../edges/navigation.ts';
import { RecentRequests } from '../requests/recent-requests.tsx';
import { HistorySection } from '../traffic-history/history-section.tsx';
import { CaptureState } from './capture-state.tsx';
import { EdgeSection } from './edge-section.tsx';
import { EndpointDot } from './endpoint-dot.tsx';
import { failureText } from './failing-list.tsx';
import { endpointCrumbs } from './navigation.tsx';
import { TrafficDetails } from './traffic-facts.tsx';
import { useTraffic } from './use-traffic.ts';

export function LiveEndpointPage({ endpoint }: { endpoint: LiveEndpointFactsFragment }) {
  const { id, publicUrl, proto, edge, type } = endpoint;
  const traffic = useTraffic(useSignal([id]));
  const isHttp = proto === 'HTTP' || proto === 'HTTPS';
  return (
    <Page
      title={publicUrl}
      badge={<EndpointDot endpoint={endpoint} />}
      crumbs={endpointCrumbs}
      actions={
        isHttp && (
          <>
            <a class="button" href={publicUrl} target="_blank" rel="noopener noreferrer">
              Visit
            </a>
            {type === 'CLOUD' && <LinkButton href={cloudEndpointPath(id)}>Settings</LinkButton>}
            <LinkButton variant="primary" href={pathTo('traffic', id)}>
              Traffic
            </LinkButton>
          </>
        )
      }
    >
      <FailureNote endpoint={endpoint} />
      <EndpointDetails endpoint={endpoint} />
      <HistorySection
        operation={EndpointTrafficHistory}
        ids={{ id }}
        pick={(result) => result.endpoint}
        isHttp={isHttp}
      />
      <Section title="Traffic now">
        <TrafficDetails id={id} proto={proto} traffic={traffic} />
        {isHttp && <CaptureState id={id} />}
      </Section>
      {isHttp && <RecentRequests key={id} endpointId={id} />}
      {edge && <EdgeSection id={edge.id} />}
      <MetadataSection text={endpoint.metadata} />
      <AuditHistory id={id} />
    </Page>
  );
}

/** That it fails, since when, and where to see which requests do. */
function FailureNote({ endpoint: { id, health } }: { endpoint: LiveEndpointFactsFragment }) {
  if (health.state !== 'FAILING') return null;
  return (
    <Note variant="warn">
      <p>
        It has been failing for <RelativeTime at={health.since} as="since" />
        {health.errorShare !== null && `: ${failureText(health.errorShare, health.requests)}`}.
      </p>
      <LinkButton href={pathTo('traffic', id)}>Look at its requests</LinkButton>
    </Note>
  );
}

function EndpointDetails({ endpoint }: { endpoint: LiveEndpointFactsFragment }) {
  const { publicUrl, hostport, region, tunnelSession: agent, tunnel, roundTrip } = endpoint;
  const isCloud = endpoint.type === 'CLOUD';
  return (
    <DescriptionList
      items={[
        { name: 'Address', value: <CopyButton text={publicUrl} label="the address" /> },
        { name: 'Name and port', value: <code>{hostport}</code> },
        { name: 'Up', value: <RelativeTime at={endpoint.createdAt} as="since" /> },
        endpoint.health.state === 'FAILING' && { name: 'Failing', value: <Failing health={endpoint.health} /> },
        !isCloud && {
          name: 'Last round trip',
          value: roundTrip ? (
            <>
              <Milliseconds value={roundTrip.milliseconds} />, <RelativeTime at={roundTrip.at} />
            </>
          ) : (
            <span class="muted">none known here</span>
          ),
        },
        agent && {
          name: 'Agent',
          value: (
            <>
              <a href={objectPath('tunnelSession', agent.id)}>
                {agent.agentVersion} at {agent.ip}
              </a>{' '}
              <span class="muted">{agent.os}</span>
            </>
          ),
        },
        isCloud && { name: 'Answered by', value: <a href={cloudEndpointPath(endpoint.id)}>its traffic policy</a> },
        !agent && !isCloud && { name: 'Agents behind it', value: String(endpoint.agents) },
        agent?.credential && {
          name: 'Credential',
          value: <CredentialLink id={agent.credential.id} />,
        },
        endpoint.forwardsTo !== null && { name: 'Forwards to', value: <code>{endpoint.forwardsTo || '–'}</code> },
        tunnel && { name: 'Tunnel', value: <a href={objectPath('tunnel', tunnel.id)}>{tunnel.id}</a> },
        { name: endpoint.proto === 'TCP' ? 'TCP address' : 'Domain', value: <Reservation endpoint={endpoint} /> },
        region !== '' && { name: 'Region', value: region },
        endpoint.nodeId !== null && { name: 'Node of the gateway', value: <code>{endpoint.nodeId}</code> },
        { name: 'Id', value: <CopyButton text={endpoint.id} label="the id" /> },
      ]}
    />
  );
}

/** Since when an endpoint fails, and how much of it. */
function Failing({ health: { since, errorShare, requests } }: Pick<LiveEndpointFactsFragment, 'health'>) {
  return (
    <>
      <RelativeTime at={since} as="since" />
      {errorShare !== null && `: ${Math.round(errorShare * 100)}% of the last ${requests} requests`}
    </>
  );
}

/** What of the address the account has reserved. */
function Reservation({ endpoint: { domain, tcpAddr, hostport } }: { endpoint: LiveEndpointFactsFragment }) {
  if (tcpAddr) return <a href={objectPath('reservedAddress', tcpAddr.id)}>{hostport}</a>;
  return domain ? <DomainLink id={domain.id} /> : <span class="muted">not reserved</span>;
}

/** A link to the reserved domain, labelled with its name, which may be a wildcard. */
function DomainLink({ id }: { id: string }) {
  const { data } = useQuery(EndpointDomain, { id }, { kinds: ['reservedDomain'] });
  return <a href={objectPath('reservedDomain', id)}>{data?.reservedDomain?.domain ?? id}</a>;
}

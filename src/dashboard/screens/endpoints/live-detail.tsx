import { useSignal } from '@preact/signals';
import { useQuery } from '../../data/hooks/use-query.ts';
import { objectPath, pathTo } from '../../data/routing/paths.ts';
import { EndpointCapture, EndpointDomain, type LiveEndpointFactsFragment } from '../../generated/operations.ts';
import { LinkButton } from '../../ui/button.tsx';
import { MetadataSection } from '../../ui/layout/metadata-section.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { CopyButton } from '../../ui/text/copy-button.tsx';
import { DescriptionList } from '../../ui/text/description-list.tsx';
import { Milliseconds } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { CredentialLink } from '../agents/credential-link.tsx';
import { EdgeSection } from './edge-section.tsx';
import { EndpointDot } from './endpoint-dot.tsx';
import { endpointCrumbs } from './navigation.tsx';
import { TrafficDetails } from './traffic-facts.tsx';
import { useTraffic } from './use-traffic.ts';

const CAPTURE_POLL_MS = 5000;

export function LiveEndpointPage({ endpoint }: { endpoint: LiveEndpointFactsFragment }) {
  const { id, publicUrl, proto, edge } = endpoint;
  const traffic = useTraffic(useSignal([id]));
  const isHttp = proto === 'http' || proto === 'https';
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
            <LinkButton variant="primary" href={pathTo('traffic', id)}>
              Traffic
            </LinkButton>
          </>
        )
      }
    >
      <EndpointDetails endpoint={endpoint} />
      <Section title="Traffic now">
        <TrafficDetails id={id} proto={proto} traffic={traffic} />
        {isHttp && <CaptureState id={id} />}
      </Section>
      {edge && <EdgeSection id={edge.id} />}
      <MetadataSection text={endpoint.metadata} />
    </Page>
  );
}

function EndpointDetails({ endpoint }: { endpoint: LiveEndpointFactsFragment }) {
  const { publicUrl, hostport, region, tunnelSession: agent, tunnel, roundTrip, domain } = endpoint;
  return (
    <DescriptionList
      items={[
        { name: 'Address', value: <CopyButton text={publicUrl} label="the address" /> },
        { name: 'Name and port', value: <code>{hostport}</code> },
        { name: 'Up', value: <RelativeTime at={endpoint.createdAt} as="since" /> },
        {
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
        !agent && { name: 'Agents behind it', value: String(endpoint.agents) },
        agent?.credential && {
          name: 'Credential',
          value: <CredentialLink id={agent.credential.id} />,
        },
        endpoint.forwardsTo !== null && { name: 'Forwards to', value: <code>{endpoint.forwardsTo || '–'}</code> },
        tunnel && { name: 'Tunnel', value: <a href={objectPath('tunnel', tunnel.id)}>{tunnel.id}</a> },
        {
          name: 'Domain',
          value: domain ? <DomainLink id={domain.id} /> : <span class="muted">not reserved</span>,
        },
        region !== '' && { name: 'Region', value: region },
        endpoint.nodeId !== null && { name: 'Node of the gateway', value: <code>{endpoint.nodeId}</code> },
        { name: 'Id', value: <CopyButton text={endpoint.id} label="the id" /> },
      ]}
    />
  );
}

/** The state of the traffic capture. */
function CaptureState({ id }: { id: string }) {
  const { data, error } = useQuery(EndpointCapture, { endpointId: id }, { pollMs: CAPTURE_POLL_MS });
  const capture = data?.trafficCapture;
  if (error) return <p class="muted">{error.message}</p>;
  if (!capture) return null;
  const { isOn, kept: keptRequests, endsAt } = capture;
  return (
    <p>
      {isOn ? (
        <>
          Its requests are captured · ends <RelativeTime at={endsAt} />
        </>
      ) : (
        'Its requests aren’t captured'
      )}
      {' · '}
      <a href={pathTo('traffic', id)}>
        {keptRequests > 0 ? `Look at ${keptRequests} of them` : isOn ? 'Look at them' : 'Switch it on'}
      </a>
    </p>
  );
}

/** A link to the reserved domain, labelled with its name, which may be a wildcard. */
function DomainLink({ id }: { id: string }) {
  const { data } = useQuery(EndpointDomain, { id }, { kinds: ['reservedDomain'] });
  return <a href={objectPath('reservedDomain', id)}>{data?.reservedDomain?.domain ?? id}</a>;
}

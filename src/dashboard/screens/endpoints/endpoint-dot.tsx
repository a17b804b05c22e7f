import type { EndpointState, EndpointType } from '../../generated/operations.ts';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { Tag } from '../../ui/feedback/tag.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

export interface EndpointDotProps {
  endpoint: {
    type: EndpointType;
    agents: number;
    roundTrip: { at: string } | null;
    health: { state: EndpointState; since: string };
  };
}

/**
 * The status of an endpoint. It is green only after a heartbeat of an agent behind it came back, and while visitors get answers. A
 * cloud endpoint has no agent.
 */
export function EndpointDot({ endpoint: { type, agents, roundTrip, health } }: EndpointDotProps) {
  if (type === 'CLOUD' && health.state !== 'FAILING') return <Tag>policy answers</Tag>;
  if (type !== 'CLOUD' && agents === 0) return <StatusDot state="warn">no agent</StatusDot>;
  if (health.state === 'FAILING')
    return (
      <StatusDot state="failing">
        failing <RelativeTime at={health.since} as="since" />
      </StatusDot>
    );
  return <StatusDot state="live" roundTripAt={roundTrip?.at} />;
}

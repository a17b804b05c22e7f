import type { EndpointState } from '../../generated/operations.ts';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

export interface EndpointDotProps {
  endpoint: {
    agents: number;
    roundTrip: { at: string } | null;
    health: { state: EndpointState; since: string };
  };
}

/** The status of an endpoint. It is green only after a heartbeat of an agent behind it came back, and while visitors get answers. */
export function EndpointDot({ endpoint: { agents, roundTrip, health } }: EndpointDotProps) {
  if (agents === 0) return <StatusDot state="warn">no agent</StatusDot>;
  if (health.state === 'FAILING')
    return (
      <StatusDot state="failing">
        failing <RelativeTime at={health.since} as="since" />
      </StatusDot>
    );
  return <StatusDot state="live" roundTripAt={roundTrip?.at} />;
}

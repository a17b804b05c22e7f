import { StatusDot } from '../../ui/feedback/status-dot.tsx';

export interface EndpointDotProps {
  endpoint: { agents: number; roundTrip: { at: string } | null };
}

/** The status of an endpoint. It is green only after a heartbeat of an agent behind it came back. */
export function EndpointDot({ endpoint: { agents, roundTrip } }: EndpointDotProps) {
  if (agents === 0) return <StatusDot state="warn">no agent</StatusDot>;
  return <StatusDot state="live" roundTripAt={roundTrip?.at} />;
}

import { StatusDot } from '../../ui/feedback/status-dot.tsx';

export interface EndpointDotProps {
  endpoint: { agents: number; roundTrip: { at: string } | null };
}

/** Green for a heartbeat that came back from an agent behind it, never for the address being there. */
export function EndpointDot({ endpoint: { agents, roundTrip } }: EndpointDotProps) {
  if (agents === 0) return <StatusDot state="warn">no agent</StatusDot>;
  return <StatusDot state="live" roundTripAt={roundTrip?.at} />;
}

import { Dot } from '../../ui/feedback/status-dot.tsx';

export interface EndpointDotProps {
  endpoint: { agents: number; roundTrip: { at: string } | null };
}

/** Green for a heartbeat that came back from an agent behind it, never for the address being there. */
export function EndpointDot({ endpoint: { agents, roundTrip } }: EndpointDotProps) {
  if (agents === 0) return <Dot state="warn">no agent</Dot>;
  return <Dot state="live" roundTripAt={roundTrip?.at} />;
}

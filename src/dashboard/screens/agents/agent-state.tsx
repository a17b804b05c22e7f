import type { FleetRowFragment } from '../../generated/operations.ts';
import { StatusDot } from '../../ui/feedback/status-dot.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';

/** Whether an agent is connected, and otherwise until when it was. */
export function AgentState({ agent }: { agent: Pick<FleetRowFragment, 'online' | 'lastSeenAt'> }) {
  // The gateway has looked at the heartbeats already, so it is live as of now.
  if (agent.online) return <StatusDot state="live" roundTripAt={new Date().toISOString()} />;
  return (
    <>
      <StatusDot state="off" /> <RelativeTime at={agent.lastSeenAt} />
    </>
  );
}

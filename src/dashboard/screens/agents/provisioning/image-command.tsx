import { useQuery } from '../../../data/hooks/use-query.ts';
import { GatewayInfo } from '../../../generated/operations.ts';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { agentLines } from '../../credentials/agent-command.ts';
import { AgentLinesView } from '../../credentials/start-command.tsx';

/** The lines for an image: with them, each device gets a credential of its own. */
export function ImageCommand({ token }: { token: string }) {
  const { data, error, refetch } = useQuery(GatewayInfo, {});
  const info = data?.gatewayInfo;
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (!info) return <Skeleton lines={2} />;
  const lines = agentLines(info, location.origin, `TUNNEL_PROVISIONING_KEY=${token}`, 'start');
  return (
    <AgentLinesView lines={lines} caCertificate={info.caCertificate} needsFile={info.needsCa && info.caFile === null}>
      Each device that runs it gets a credential of its own.
    </AgentLinesView>
  );
}

// The lines that start an agent of this gateway: once, or as a service.

import type { ComponentChildren } from 'preact';
import { useQuery } from '../../data/hooks/use-query.ts';
import { GatewayInfo } from '../../generated/operations.ts';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { CodeBlock } from '../../ui/text/code-block.tsx';
import { type AgentLines, agentCommand, agentLines, CA_FILE } from './agent-command.ts';
import './start-command.css';
import { Button } from '../../ui/button.tsx';

interface StartCommandProps {
  /** The authtoken. It is known only when its credential is created. */
  token?: string;
  /** What the credential may bind. */
  acl: readonly string[];
  /** What the agent does, as `tcp 22`; left out: something that the credential may bind. */
  command?: string;
}

export function StartCommand({ token, acl, command = agentCommand(acl) }: StartCommandProps) {
  const { data, error, refetch } = useQuery(GatewayInfo, {});
  const info = data?.gatewayInfo;
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (!info) return <Skeleton lines={2} />;
  const lines = agentLines(info, location.origin, `TUNNEL_AUTHTOKEN=${token ?? '<authtoken>'}`, command);
  return (
    <AgentLinesView lines={lines} caCertificate={info.caCertificate} needsFile={info.needsCa && info.caFile === null}>
      It opens a tunnel to a program on port {command.split(' ')[1]}, for as long as it runs.
    </AgentLinesView>
  );
}

interface AgentLinesViewProps {
  lines: AgentLines;
  caCertificate: string;
  /** Whether the agent needs the certificate in a file. */
  needsFile: boolean;
  /** What the line that runs the agent once does. */
  children: ComponentChildren;
}

/** Both ways to have an agent, to be copied. */
export function AgentLinesView({ lines, caCertificate, needsFile, children }: AgentLinesViewProps) {
  return (
    <div class="start-command">
      <CodeBlock code={lines.once} label="the line that starts an agent" />
      <p class="help">
        {children}
        {needsFile && ' The agent needs the certificate of this gateway’s authority in a file beside it.'}
      </p>
      {needsFile && <DownloadCertificate pem={caCertificate} name={CA_FILE} />}
      <p>Or this one, which installs it as a service of systemd:</p>
      <CodeBlock code={lines.service} label="the line that installs a service" />
      <p class="help">
        It is a service of yours. For one of the whole machine, put <code>sudo -E</code> before <code>sh</code>. Run
        again, it updates the agent; <code>--dry-run</code> shows what it would do, and <code>--uninstall</code> takes
        it back.
      </p>
    </div>
  );
}

interface DownloadCertificateProps {
  pem: string;
  /** The name of the file. */
  name: string;
}

/** Downloads a certificate, which is public. */
export function DownloadCertificate({ pem, name }: DownloadCertificateProps) {
  function save() {
    const href = URL.createObjectURL(new Blob([pem], { type: 'application/x-pem-file' }));
    const link = Object.assign(document.createElement('a'), { href, download: name });
    link.click();
    URL.revokeObjectURL(href);
  }
  return (
    <div class="actions">
      <Button onClick={save}>Save {name}</Button>
    </div>
  );
}

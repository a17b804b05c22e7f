// The command that starts an agent of this gateway.

import { useQuery } from '../../data/hooks/use-query.ts';
import { GatewayInfo } from '../../generated/operations.ts';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { CodeBlock } from '../../ui/text/code-block.tsx';
import { agentCommand, shellQuote } from './agent-command.ts';
import './start-command.css';
import { Button } from '../../ui/button.tsx';

/** The name of the downloaded certificate file. */
const CA_FILE = 'gateway-ca.pem';

interface StartCommandProps {
  /** The authtoken. It is known only when its credential is created. */
  token?: string;
  /** What the credential may bind. */
  acl: readonly string[];
}

export function StartCommand({ token, acl }: StartCommandProps) {
  const { data, error, refetch } = useQuery(GatewayInfo, {});
  const info = data?.gatewayInfo;
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (!info) return <Skeleton lines={2} />;
  const { agentAddress, caFile, caCertificate } = info;
  const command = [
    `TUNNEL_AUTHTOKEN=${token ?? '<authtoken>'}`,
    `GATEWAY_ADDR=${agentAddress}`,
    `GATEWAY_CA=${shellQuote(caFile ?? CA_FILE)}`,
    `npm run agent -- ${agentCommand(acl)}`,
  ].join(' ');
  return (
    <div class="start-command">
      <CodeBlock code={command} label="the line that starts an agent" />
      <p class="help">
        It opens a tunnel to a program on port 3000.
        {caFile === null && ' The agent needs the certificate of this gateway’s authority in a file beside it.'}
      </p>
      {caFile === null && <DownloadCertificate pem={caCertificate} name={CA_FILE} />}
    </div>
  );
}

interface DownloadCertificateProps {
  pem: string;
  /** The name of the file. */
  name: string;
}

/** Downloads a certificate, which is public. */
function DownloadCertificate({ pem, name }: DownloadCertificateProps) {
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

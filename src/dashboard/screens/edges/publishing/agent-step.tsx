// How an agent is started for an edge, with a credential made for it if one is wanted.

import { useState } from 'preact/hooks';
import { useMutation } from '../../../data/hooks/use-mutation.ts';
import { pathTo } from '../../../data/routing/paths.ts';
import { CreateCredential } from '../../../generated/operations.ts';
import { Button } from '../../../ui/button.tsx';
import { ErrorNote } from '../../../ui/feedback/error-note.tsx';
import { OneTimeSecret } from '../../../ui/layout/one-time-secret.tsx';
import { labelsCommand } from '../../credentials/agent-command.ts';
import { StartCommand } from '../../credentials/start-command.tsx';

interface AgentStepProps {
  host: string;
  labels: Record<string, string>;
  /** How many tunnels with them are there now. */
  tunnels: number;
}

export function AgentStep({ host, labels, tunnels }: AgentStepProps) {
  const [token, setToken] = useState<string>();
  const create = useMutation(CreateCredential);
  const acl = Object.entries(labels).map(([key, value]) => `bind:${key}=${value}`);

  async function makeCredential() {
    const made = await create.mutate({ input: { description: `for ${host}`, acl } });
    const given = made?.createCredential?.token;
    if (given) setToken(given);
  }

  const line = <StartCommand {...(token && { token })} acl={acl} command={labelsCommand(labels)} />;
  if (token)
    return (
      <OneTimeSecret name="authtoken" secret={token} onDismiss={() => setToken(undefined)}>
        {line}
      </OneTimeSecret>
    );
  if (tunnels > 0) return <p role="status">{tunnels === 1 ? 'A tunnel is there.' : `${tunnels} tunnels are there.`}</p>;
  return (
    <>
      <p role="status">Waiting for a tunnel with these labels. This line opens one to a program on port 3000:</p>
      {line}
      <p>
        It takes the authtoken of a <a href={pathTo('credentials')}>credential</a>, or of one that may only do this:
      </p>
      <ErrorNote error={create.error} />
      <Button onClick={() => void makeCredential()} isBusy={create.isBusy}>
        Make a credential for it
      </Button>
    </>
  );
}

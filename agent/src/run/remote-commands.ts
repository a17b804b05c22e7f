// The remote commands of the gateway's API to a running agent.

import type { RemoteCommands } from '../gateway-client.ts';

/** The command that ends a run of the agent. */
export type EndReason = 'stop' | 'restart';

const NO_UPDATE = 'This agent does not replace its own program: install the new one where it runs, then restart it.';

/** Creates handlers for the commands. `ended` resolves with the first one, after its response was queued. */
export function remoteCommands(): { commands: RemoteCommands; ended: Promise<EndReason> } {
  let end: (reason: EndReason) => void = () => {};
  const ended = new Promise<EndReason>((resolve) => {
    end = resolve;
  });
  const endSoon = (reason: EndReason) => {
    setImmediate(end, reason);
    return null;
  };
  return {
    ended,
    commands: {
      stop: () => endSoon('stop'),
      // The restart happens within the process, so that it needs no supervisor.
      restart: () => endSoon('restart'),
      update: () => NO_UPDATE,
      unsupported: { update: NO_UPDATE },
    },
  };
}

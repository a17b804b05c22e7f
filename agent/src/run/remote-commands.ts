// What the gateway's API may ask of a running agent from afar.

import type { RemoteCommands } from '../gateway-client.ts';

/** How a run of the agent ends by itself. */
export type EndReason = 'stop' | 'restart';

/** Resolves `ended` with the first command; the answer to it is on its way before. */
export function remoteCommands(): { commands: RemoteCommands; ended: Promise<EndReason> } {
  let end: (why: EndReason) => void = () => {};
  const ended = new Promise<EndReason>((resolve) => {
    end = resolve;
  });
  const later = (why: EndReason) => {
    setImmediate(end, why);
    return null;
  };
  return {
    ended,
    commands: {
      stop: () => later('stop'),
      // Within the process, so that it needs nobody who starts it again.
      restart: () => later('restart'),
      update: () => 'This agent does not replace its own program: install the new one where it runs, then restart it.',
    },
  };
}

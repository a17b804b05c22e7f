// The signals by which a person, or the manager of a service, ends the agent or has it read its configuration again.

import { isatty } from 'node:tty';

/** What signals ask of the process. */
export interface Signals {
  /** Resolves with the first signal that ends the process. A second one ends it at once. */
  stopped: Promise<NodeJS.Signals>;
  /** Resolves with the next SIGHUP, or at once where one has come since the last. */
  hangUp(): Promise<void>;
}

/**
 * SIGHUP reads the configuration again. Where a terminal is among the standard streams it is the end of that, and of the agent:
 * otherwise nobody would see it any more. (Whether a parent has ignored it, as `nohup` does, Node does not know; such an agent has no
 * terminal.)
 */
export function listenToSignals(): Signals {
  const hasTerminal = [0, 1, 2].some((fd) => isatty(fd));
  let hasHungUp = false;
  let onHangUp = () => {};
  if (!hasTerminal)
    process.on('SIGHUP', () => {
      hasHungUp = true;
      onHangUp();
    });
  const stopped = new Promise<NodeJS.Signals>((resolve) => {
    let isStopping = false;
    const stop = (signal: NodeJS.Signals) => {
      if (isStopping) process.exit(1);
      isStopping = true;
      resolve(signal);
    };
    for (const signal of ['SIGTERM', 'SIGINT', ...(hasTerminal ? (['SIGHUP'] as const) : [])] as const)
      process.on(signal, stop);
  });
  return {
    stopped,
    async hangUp() {
      if (!hasHungUp)
        await new Promise<void>((resolve) => {
          onHangUp = resolve;
        });
      hasHungUp = false;
    },
  };
}

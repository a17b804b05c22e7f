// What systemd is told of the agent, where it runs as a service with `Type=notify` (sd_notify(3)): that it runs, that it reads its
// configuration again, that it stops, and at intervals that it does not hang. Node has no datagram sockets of Unix, so that systemd's own
// program tells it: it is where systemd is, and a service is told to be `NotifyAccess=all` for it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Log } from '../log.ts';

const PROGRAM = 'systemd-notify';

/** What the environment says of the manager of the service. */
export interface ServiceManagerSettings {
  /** Where it listens; null when nobody wants to know. */
  socket: string | null;
  /** Within how many milliseconds it wants a sign of life; null when it wants none. */
  watchdogMs: number | null;
}

export interface ServiceManager {
  /** The agent runs. */
  ready(): void;
  /** It reads its configuration again; `ready` follows. */
  reloading(): void;
  /** It ends. Resolves when that is told, or cannot be. */
  stopping(): Promise<void>;
}

const NOBODY: ServiceManager = { ready() {}, reloading() {}, stopping: async () => {} };

/** Tells the manager, one thing after the other. What cannot be told is logged once, and stops nothing. */
export function serviceManager({ socket, watchdogMs }: ServiceManagerSettings, log: Log): ServiceManager {
  if (socket === null) return NOBODY;
  let told = Promise.resolve();
  let waiting = 0;
  let hasFailed = false;

  function tell(...words: string[]): Promise<void> {
    waiting++;
    told = told.then(async () => {
      const failure = await run(words).catch((error: Error) => error.message);
      if (failure !== undefined && !hasFailed)
        log('warn', 'systemd cannot be told how the agent is', { reason: failure });
      hasFailed = failure !== undefined;
      waiting--;
    });
    return told;
  }

  let watchdog: NodeJS.Timeout | undefined;
  const watch = () => {
    // Half of the time, as sd_watchdog_enabled(3) recommends. A machine that is slow to start programs gets no queue of them.
    if (watchdogMs !== null)
      watchdog ??= setInterval(() => void (waiting === 0 && tell('WATCHDOG=1')), watchdogMs / 2).unref();
  };
  return {
    ready() {
      void tell('--ready');
      watch();
    },
    reloading: () => void tell('RELOADING=1'),
    stopping() {
      clearInterval(watchdog);
      return tell('STOPPING=1');
    },
  };
}

/** @returns why it has failed; undefined when it has not. @throws {Error} when the program cannot be started. */
async function run(words: readonly string[]): Promise<string | undefined> {
  const program = spawn(PROGRAM, words, { stdio: 'ignore' });
  const [code, signal] = await once(program, 'exit');
  return code === 0 ? undefined : `${PROGRAM} ${words.join(' ')} ended with ${code ?? signal}`;
}

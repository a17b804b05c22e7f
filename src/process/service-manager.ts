// Tells systemd what the gateway does (sd_notify(3)): a unit of `Type=notify` is active when the gateway serves, and is started again when
// its event loop stands still for `WatchdogSec=`.
//
// Node has no unix datagram sockets, and the packages that add them compile code when they are installed. So `systemd-notify` sends: it
// is there wherever systemd is. The unit needs `NotifyAccess=all`, as that is a process of its own.

import { spawn } from 'node:child_process';
import type { Logger } from 'pino';

/** How often systemd is told within the time in which it expects it. */
const PINGS = 3;

export interface ServiceManager {
  /** The gateway serves: at its start, and again after each `reloading`. */
  ready(): void;
  /** The gateway begins to serve with other code. */
  reloading(): void;
  stopping(): void;
}

/** @param env of the process that systemd has started. @returns what does nothing where it was not systemd. */
export function openServiceManager(env: NodeJS.ProcessEnv, log: Logger): ServiceManager {
  if (env.NOTIFY_SOCKET === undefined) return { ready() {}, reloading() {}, stopping() {} };
  let isTold = true;
  let last: Promise<void> = Promise.resolve();
  /** One after the other: systemd takes the last for what is so. */
  const tell = (...variables: string[]) => {
    last = last.then(async () => {
      const failure = await notify(variables, env);
      if (failure !== undefined && isTold) log.warn({ failure }, 'systemd cannot be told by systemd-notify');
      isTold = failure === undefined;
    });
  };
  const everyMs = watchdogMs(env) / PINGS;
  if (everyMs > 0) setInterval(() => tell('WATCHDOG=1'), everyMs).unref();
  return {
    ready: () => tell('READY=1'),
    // systemd takes a READY=1 of before this moment for none (Type=notify-reload).
    reloading: () => tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    stopping: () => tell('STOPPING=1'),
  };
}

/** As `WATCHDOG_USEC` says for this process; 0: it is not watched. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv): number {
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(process.pid)) return 0;
  return Number(WATCHDOG_USEC ?? 0) / 1000 || 0;
}

/** @returns why it has failed. */
function notify(variables: string[], { PATH, NOTIFY_SOCKET }: NodeJS.ProcessEnv): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn('systemd-notify', variables, { stdio: 'ignore', env: { PATH, NOTIFY_SOCKET } });
    child.on('error', (error) => resolve(error.message));
    child.on('exit', (code, signal) => resolve(code === 0 ? undefined : `it ended with ${signal ?? code}`));
  });
}

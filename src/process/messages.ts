// What the primary and its processes tell each other over the channel of node:cluster.

import type { MetricJson } from '../monitoring/process-metrics.ts';

/** What a process says of itself every tenth of `WATCHDOG_MS`. */
export interface ProcessHeartbeat {
  /** By how much its event loop was late for this heartbeat, in milliseconds. */
  delayMs: number;
  /** A process that a debugger holds is not killed. */
  isDebugged: boolean;
}

/** To the primary. */
export type ChildMessage =
  /** The process listens to messages: node:cluster would drop those that come before. */
  | { type: 'listens' }
  /** The process serves. */
  | { type: 'ready' }
  /** A control process has loaded its code, and waits for the database of the one before it. */
  | { type: 'standby' }
  /** A control process has closed the database, and ends. */
  | { type: 'handedOver' }
  /** A worker that drains moves no more agents, and those that it moved are back. */
  | { type: 'movesPaused' }
  /** What the process measures: when it serves, when it is asked, and, without gauges, when it ends. */
  | { type: 'metrics'; metrics: MetricJson[]; isLast?: boolean }
  /** A control process that was asked: why the gateway cannot serve, or null. */
  | { type: 'readiness'; reason: string | null }
  /** The event loop of the process turns. */
  | ({ type: 'heartbeat' } & ProcessHeartbeat);

/** From the primary. */
export type PrimaryMessage =
  /** Stop: of a control process, this stops the workers, too. */
  | { type: 'stop' }
  /** A control process: stop, but let the workers go on. */
  | { type: 'handOver' }
  /** A control process in standby: take over. */
  | { type: 'takeOver' }
  /** A worker: take nothing new, let the agents move, and end with the last stream. */
  | { type: 'drain' }
  /** A worker that drains: move no agents during an upgrade. */
  | { type: 'pauseMoves' }
  | { type: 'resumeMoves' }
  /** A worker: end now, even while it drains. */
  | { type: 'cut' }
  /** The process has proved itself after an upgrade: nobody reads its last log lines any more. */
  | { type: 'settled' }
  | { type: 'tellMetrics' }
  /** A control process. */
  | { type: 'tellReadiness' };

/** The role of a process, as the primary passes it in the environment. */
export const ROLE = 'GATEWAY_PROCESS';
/** The index of a worker, from 0. */
export const WORKER_INDEX = 'GATEWAY_WORKER';
/** The place of a worker in the file of the counts of connections, from 0, and the descriptor of that file. */
export const COUNTS_RECORD = 'GATEWAY_COUNTS';
export const COUNTS_FD = 4;
/** The base URL of the admin listener, which the primary has. */
export const ADMIN_URL = 'GATEWAY_ADMIN';
/** Set for a control process that replaces another: it prints no greeting. */
export const IS_REPLACEMENT = 'GATEWAY_REPLACEMENT';

/** Sends a message to the primary. @returns when it is on its way: a process that ends at once would take it along. */
export function tellPrimary(message: ChildMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send) process.send(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

/** Calls back with the messages of the primary. Signals are for the primary alone, which a terminal sends to all processes. */
export function onPrimaryMessage(listener: (message: PrimaryMessage) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('message', (message) => listener(message as PrimaryMessage));
  tellPrimary({ type: 'listens' });
}

// The primary: it holds the listening sockets, and starts, watches and stops the control process and the workers, which share them.

import cluster from 'node:cluster';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { freePort } from '../net/free-port.ts';
import { Children, controlSlot, type Slot, workerSlot } from './children.ts';
import type { Output } from './output.ts';

/** The time in addition to a stop of the control process after which what is left is killed; milliseconds. */
const KILL_MS = 35_000;
/** How long the workers have to end when the control process has ended; milliseconds. */
const WORKERS_END_MS = 5000;

const PORTS = [
  ['API_PORT', 'apiPort', 'api'],
  ['ADMIN_PORT', 'adminPort', 'admin'],
  ['AGENT_PORT', 'agentPort', 'agent'],
  ['HTTP_PORT', 'httpPort', 'http'],
  ['HTTPS_PORT', 'httpsPort', 'https'],
] as const;

export interface PrimaryOptions {
  config: Config;
  log: Logger;
  output: Output;
  /** The file that every process runs. */
  exec: string;
}

/** Runs the gateway in several processes, until a signal ends it. @throws when they cannot be started. */
export async function runPrimary({ config, log, output, exec }: PrimaryOptions): Promise<void> {
  // The processes accept from one queue; the other policy would hand each connection on from here.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec, silent: false });
  const onFailure = ({ name }: Slot) => {
    log.fatal({ process: name }, 'a process cannot be started; giving up');
    children.end(true);
    void output.exit(1);
  };
  const children = new Children({ log, env: await pickPorts(config), onFailure });
  const control = children.start(controlSlot.name, controlSlot.env);
  const workers = Array.from({ length: config.workers }, (_, index) => workerSlot(index)).map(({ name, env }) =>
    children.start(name, env),
  );

  let isStopping = false;
  const stop = async () => {
    if (isStopping) {
      children.end(true);
      return output.exit(1); // A second signal does not wait.
    }
    isStopping = true;
    children.end();
    setTimeout(() => children.end(true), config.drainAnnounceMs + config.drainMs + KILL_MS).unref();
    const { child } = control.slot;
    if (child) {
      // It stops the workers, too, in the right order.
      const code = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
      children.tell(control.slot, { type: 'stop' });
      process.exitCode = await code;
    } else for (const slot of children.slots) children.tell(slot, { type: 'stop' });
    setTimeout(() => children.end(true), WORKERS_END_MS).unref();
    await Promise.all([...children.slots].map((slot) => children.ended(slot)));
    return output.exit(Number(process.exitCode ?? 0));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
  try {
    await Promise.all([control, ...workers].map(({ ready }) => ready));
  } catch (error) {
    if (isStopping) return;
    children.end(true); // The process that has ended has said why.
    throw error;
  }
  log.info({ workers: config.workers }, 'all processes serve');
}

/** The ports of listeners for which any free one is to be used: all processes must have the same. */
async function pickPorts(config: Config): Promise<Record<string, string>> {
  const picked: Record<string, string> = {};
  for (const [variable, name, socket] of PORTS)
    if (config[name] === 0 && config.inheritedSockets[socket] === undefined)
      picked[variable] = String(await freePort(config.host));
  return picked;
}

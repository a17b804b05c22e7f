// The primary: it holds the listening sockets, and starts, watches and stops the control process and the workers, which share them.

import cluster from 'node:cluster';
import { createServer, type Server } from 'node:net';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { LocalSockets, PRIMARY_SOCKET } from '../cluster/local-sockets.ts';
import type { Config } from '../config/config.ts';
import { packageRoot } from '../config/package-root.ts';
import { CallChannel } from '../control/call-channel.ts';
import { openAdminListener } from '../gateway/admin-listener.ts';
import { AFTER_START, collectWhenIdle, thisProcess } from '../monitoring/idle-collection.ts';
import { primaryMetrics } from '../monitoring/primary-metrics.ts';
import { openCounts } from '../net/connection-counts.ts';
import { freePort } from '../net/free-port.ts';
import { Children, type Slot } from './children.ts';
import { Generations } from './generations.ts';
import { currentMainFile } from './installed-versions.ts';
import { ADMIN_URL } from './messages.ts';
import type { Output } from './output.ts';
import { ProcessAnswers } from './process-answers.ts';
import { processNames, titleOf } from './process-config.ts';
import type { ServiceManager } from './service-manager.ts';

/** The time in addition to a stop of the control process after which what is left is killed; milliseconds. */
const KILL_MS = 35_000;
/** How much this process, which is small, grows until it is collected; bytes. Each collection of metrics leaves a megabyte behind. */
const WORTHWHILE_BYTES = 8 * 1024 * 1024;
/** How long other processes have to end when the control process has ended, in addition to their drain; milliseconds. */
const OTHERS_END_MS = 5000;

const PORTS = [
  ['API_PORT', 'apiPort', 'api'],
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
  manager: ServiceManager;
}

/** Runs the gateway in several processes, until a signal ends it. It ends the process when they cannot be started. */
export async function runPrimary({ config, log, output, exec, manager }: PrimaryOptions): Promise<void> {
  process.title = titleOf('primary');
  // The processes accept from one queue; the other policy would hand each connection on from here.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const onFailure = ({ role }: Slot) => {
    log.fatal({ process: role.name }, 'a process cannot be started; giving up');
    children.killAll();
    void output.exit(1);
  };
  const directory = config.nodeLink?.localDirectory;
  if (directory === undefined) throw new Error('workers reach the control process over a unix socket');
  const counts = openCounts(directory);
  const env = await pickPorts(config);
  const children = new Children({ log, env, directory, counts, watchdogMs: config.watchdogMs, onFailure });
  const generations = new Generations({
    ...{ children, manager, log },
    ...{ workers: config.workers, settleMs: config.upgradeSettleMs },
  });
  const registry = new Registry();
  const answers = new ProcessAnswers({ children, control: () => generations.control, registry });
  primaryMetrics(registry, {
    ages: () => answers.ages(),
    kills: () =>
      processNames(config).map((name) => [{ process: name.replace(' ', '-') }, children.kills.get(name) ?? 0]),
    upgrades: () => Object.entries(generations.upgrades).map(([outcome, count]) => [{ outcome }, count]),
  });
  env[ADMIN_URL] = (await openAdminListener(config, answers)).url;
  let isStopping = false;
  let upgrades: Server | undefined;
  const stop = async () => {
    if (isStopping) {
      children.killAll();
      return output.exit(1); // A second signal does not wait.
    }
    isStopping = true;
    answers.stop();
    manager.stopping();
    setTimeout(() => children.killAll(), config.drainAnnounceMs + config.drainMs + KILL_MS).unref();
    const { control } = generations;
    for (const slot of children.slots) slot.isEnding = true;
    // It stops the workers, too, in the right order.
    if (control) children.tell(control, { type: 'stop' });
    const code = control ? await children.ended(control) : 0;
    // Those that it has not stopped, because it was away or only starting.
    for (const slot of children.slots) children.tell(slot, { type: 'stop' });
    setTimeout(() => children.killAll(), config.drainMs + OTHERS_END_MS).unref();
    upgrades?.close();
    await Promise.all([...children.slots].map((slot) => children.ended(slot)));
    return output.exit(code ?? 1);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop());
  try {
    await generations.start(exec);
  } catch {
    if (isStopping) return;
    children.killAll();
    return output.exit(1); // The process that has ended has said why.
  }
  log.info({ workers: config.workers }, 'all processes serve');
  collectWhenIdle(thisProcess(), AFTER_START, WORTHWHILE_BYTES);
  manager.ready();
  const upgrade = async (file: string) => {
    await generations.upgrade(file);
    return config.upgradeSettleMs;
  };
  const root = packageRoot(import.meta.dirname);
  process.on('SIGHUP', () => {
    void upgrade(currentMainFile(root) ?? generations.exec ?? exec).catch(() => undefined); // It is in the log.
  });
  upgrades = await listenForUpgrades(config, upgrade);
}

/** What `npm run upgrade` calls. */
export interface PrimaryCalls {
  /**
   * @param exec the file that the new processes run.
   * @returns when they have settled: for how long they have served, in milliseconds. A primary of a release before does not say.
   * @throws when they did not come to serve, or were taken back.
   */
  upgrade(exec: string): Promise<number | undefined>;
}

async function listenForUpgrades({ nodeLink }: Config, upgrade: PrimaryCalls['upgrade']): Promise<Server | undefined> {
  if (nodeLink?.localDirectory === undefined) return undefined;
  const server = createServer((socket) => new CallChannel(socket, { upgrade }));
  server.on('error', () => {}); // accept() failed for want of descriptors; later connections may succeed.
  await new LocalSockets(nodeLink.localDirectory).listen(server, PRIMARY_SOCKET);
  return server;
}

/** The ports of listeners for which any free one is to be used: all processes must have the same. The admin listener is this one's alone. */
async function pickPorts(config: Config): Promise<Record<string, string>> {
  const picked: Record<string, string> = {};
  for (const [variable, name, socket] of PORTS)
    if (config[name] === 0 && config.inheritedSockets[socket] === undefined)
      picked[variable] = String(await freePort(config.host));
  return picked;
}

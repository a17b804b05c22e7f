// `npm start`: reads the environment, starts the gateway, and runs it until a signal ends the process. With WORKERS it is several
// processes, which all begin here.

import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { readConfig } from './config/config.ts';
import { packageRoot } from './config/package-root.ts';
import { openLog } from './monitoring/log.ts';
import { explain } from './process/explain.ts';
import { ownTail } from './process/log-tail.ts';
import { ROLE, WORKER_INDEX } from './process/messages.ts';
import { openOutput } from './process/output.ts';
import { processConfig, titleOf } from './process/process-config.ts';
import type { ServedGateway } from './process/serve-gateway.ts';
import { openServiceManager } from './process/service-manager.ts';
import { giveAddressesTime } from './protocol/address-attempts.ts';

const root = packageRoot(import.meta.dirname);
// The operator has chosen the version of Node; without this, the AWS SDK warns about it in every process.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

giveAddressesTime();

let log: Logger | undefined;
/** Where a process of an upgrade writes its last lines, too. */
const tail = cluster.isWorker ? ownTail(process.env) : undefined;
const output = openOutput((dropped) => log?.warn({ dropped }, 'log lines were dropped: nobody took them'));

try {
  await run();
} catch (error) {
  writeLog(`${explain(error)}\n`);
  await output.exit(1);
}

function writeLog(line: string): void {
  output.logs.write(line);
  tail?.write(line);
}

async function run(): Promise<void> {
  const { env } = process;
  const role = cluster.isWorker ? env[ROLE] : undefined;
  // Sockets are handed to the primary, and its processes use them through it.
  const config = readConfig(env, root, role ? process.ppid : process.pid);
  const opened = openLog(config, writeLog);
  log = role === 'worker' ? opened.child({ worker: Number(env[WORKER_INDEX]) + 1 }) : opened;
  const logged = log;
  // Node's own warnings become log lines like all others.
  process.removeAllListeners('warning').on('warning', (warning) => logged.warn({ err: warning }, 'Node.js warning'));
  if (role) process.title = titleOf(role === 'worker' ? `worker ${Number(env[WORKER_INDEX]) + 1}` : role);
  if (role === 'worker') {
    const { runWorker } = await import('./process/worker-process.ts');
    return runWorker({ config: processConfig(config, Number(env[WORKER_INDEX])), log, output }, env);
  }
  if (role === 'control') {
    const { runControl } = await import('./process/control-process.ts');
    return runControl({ config: processConfig(config, undefined), log, output, root }, env);
  }
  const manager = openServiceManager(env, log);
  if (config.workers > 1) {
    const { runPrimary } = await import('./process/primary.ts');
    return runPrimary({ config, log, output, exec: fileURLToPath(import.meta.url), manager });
  }
  const { serveGateway } = await import('./process/serve-gateway.ts');
  const onServing = ({ stop }: ServedGateway) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        manager.stopping();
        stop(signal);
      });
    manager.ready();
  };
  await serveGateway({ config, log, output, root, onServing, isGreeted: true });
}

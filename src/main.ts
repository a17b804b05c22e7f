// `npm start`: reads the environment, starts the gateway, and runs it until a signal ends the process.

import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { type Config, ConfigError, readConfig } from './config/config.ts';
import type { Gateway } from './gateway/gateway.ts';
import { collectReadBuffers } from './monitoring/buffer-collection.ts';
import { collectWhenIdle, thisProcess } from './monitoring/idle-collection.ts';
import { openLog } from './monitoring/log.ts';
import { metricsFor } from './monitoring/metrics.ts';
import { handleUncaughtExceptions } from './monitoring/uncaught-exceptions.ts';
import { LineWriter } from './protocol/line-writer.ts';
import { describeFailure } from './runtime/describe-failure.ts';
import { openDatabase } from './store/database/open-database.ts';

/** The time in addition to the drain after which a stop is forced; milliseconds. */
const FORCED_STOP_MS = 30_000;
/** The time in which the readers of the standard streams must take the last lines; milliseconds. */
const FLUSH_TIMEOUT_MS = 1000;

/** The codes of errors of a disk that is read-only or full, and of a directory without write permission. */
const NOT_WRITABLE_CODES = new Set(['EROFS', 'ENOSPC', 'EDQUOT', 'EACCES', 'EPERM']);

/** The codes of errors of a file descriptor that is no socket, or none that can listen. */
const NO_SOCKET_CODES = new Set(['EINVAL', 'ENOTSOCK', 'EBADF', 'EOPNOTSUPP']);

const root = resolve(import.meta.dirname, '..');
// The operator has chosen the version of Node; without this, the AWS SDK warns about it in every process.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';

const output = new LineWriter(1);
const logs = new LineWriter(2, (dropped) => log?.warn({ dropped }, 'log lines were dropped: nobody took them'));
let log: Logger | undefined;

/** Ends the process when its output is written, or after a timeout. */
async function exit(code: number): Promise<never> {
  await Promise.all([logs.flush(FLUSH_TIMEOUT_MS), output.flush(FLUSH_TIMEOUT_MS)]);
  process.exit(code);
}

try {
  const config = readConfig(process.env, root);
  log = openLog(config, (line) => logs.write(line));
  await run(config, log);
} catch (error) {
  logs.write(`${explain(error)}\n`);
  await exit(1);
}

async function run(config: Config, log: Logger): Promise<void> {
  // Node's own warnings become log lines like all others.
  process.removeAllListeners('warning').on('warning', (warning) => log.warn({ err: warning }, 'Node.js warning'));
  const onFatal = (text: string) => {
    log.fatal(text);
    void exit(1);
  };
  // The embedded database starts in a thread of its own, while this one loads the rest of the code.
  const database = openDatabase(config, { onFatal, onNotice: (text) => log.warn(text) });
  database.catch(() => {}); // The start of the gateway reports it.
  const { startGateway } = await import('./gateway/gateway.ts');
  const registry = new Registry();
  const metrics = metricsFor(registry);
  metrics.counter('gateway_log_lines_dropped_total', 'Log lines that nobody took in time.', [], () => [
    [{}, logs.dropped],
  ]);
  const gateway = await startGateway(config, {
    log,
    database,
    migrations: resolve(root, 'prisma/migrations'),
    dashboard: resolve(root, 'dist/dashboard'),
    onFatal,
    registry,
  });
  handleUncaughtExceptions(log, metrics, onFatal);
  collectReadBuffers();
  collectWhenIdle(thisProcess(), 0);

  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) process.exit(1); // A second signal does not wait.
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(
      () => onFatal('stopping took too long'),
      config.drainAnnounceMs + config.drainMs + FORCED_STOP_MS,
    ).unref();
    gateway.close().then(
      () => exit(0),
      (error) => {
        log.error({ err: describeFailure(error) }, 'stopping failed');
        void exit(1);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop);
  output.write(greeting(gateway, config.publicApiUrl)); // This comes last, as a reader of the output may stop the process at once.
}

/** The text for an error: only the message for an error that a person can fix, with the stack for others. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return `The configuration is not right:\n${error.message}`;
  if (!(error instanceof Error)) return String(error);
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `${error.message}: another process has this port; set API_PORT, ADMIN_PORT, AGENT_PORT, HTTP_PORT or HTTPS_PORT to another, or 0 for any.`;
  if (syscall === 'listen' && NO_SOCKET_CODES.has(code ?? ''))
    return `${error.message}: a socket that was handed in (LISTEN_FDS) is no TCP socket that listens; look at ListenStream= in its unit.`;
  // pg-pool has no code for this error, only a text.
  if (code === 'ECONNREFUSED' || error.message === 'Connection terminated due to connection timeout')
    return `The database cannot be reached: ${error.message || 'connection refused'}. Look at DATABASE_URL.`;
  if (code === 'EACCES' && syscall === 'listen')
    return `${error.message}: the system keeps this port for root; set API_PORT, ADMIN_PORT, AGENT_PORT, HTTP_PORT or HTTPS_PORT to another, or let this process have it (CAP_NET_BIND_SERVICE).`;
  // For a directory below one that is not writable, mkdir fails with ENOENT.
  if (path !== undefined && (NOT_WRITABLE_CODES.has(code ?? '') || (code === 'ENOENT' && syscall === 'mkdir')))
    return `${error.message}: the gateway keeps its data there, so it has to be a directory with room that it may write. Look at DATA_DIR.`;
  return error.constructor === Error ? (error.stack ?? error.message) : error.message;
}

/** The lines that a start prints. */
function greeting(gateway: Gateway, publicUrl: string | undefined): string {
  const { first, addresses, caFile } = gateway;
  const secrets = first ? [...(first.apiKey ? [`API key: ${first.apiKey}`] : []), `Authtoken: ${first.authtoken}`] : [];
  const ready = `ready ${Object.entries(addresses)
    .map(([name, address]) => `${name}=${address}`)
    .join(' ')}`;
  const key = first?.apiKey ?? '<API key>';
  const curl = [
    `curl -X POST ${addresses.api}/credentials`,
    `-H 'Authorization: Bearer ${key}'`,
    `-H 'Service-Version: 2'`,
    `-H 'Content-Type: application/json'`,
    `-d '{"description":"my first device"}'`,
  ].join(' ');
  const agent = [
    `TUNNEL_AUTHTOKEN=${first?.authtoken ?? '<authtoken>'}`,
    `GATEWAY_ADDR=${addresses.agent}`,
    `GATEWAY_CA=${caFile}`,
    'npm run agent -- http 3000',
  ].join(' ');
  return [
    ...secrets,
    ready,
    '',
    'Create a credential:',
    `  ${curl}`,
    'Open a tunnel to a program on port 3000:',
    `  ${agent}`,
    'Explore the API in a browser:',
    `  ${addresses.api}/graphql`,
    `Dashboard: ${dashboardUrl(gateway, publicUrl)}`,
    '',
  ].join('\n');
}

/** The URL of the dashboard. While no admin has a password, it contains the token to set one. */
function dashboardUrl({ addresses, signInToken }: Gateway, publicUrl: string | undefined): string {
  // A listener on all addresses is also on loopback, where browsers allow signing in over plain HTTP.
  const own = addresses.api.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  return `${publicUrl ?? own}/dashboard/${signInToken === null ? '' : `sign-in#${signInToken}`}`;
}

// The process of a gateway: all of it, or, beside workers, the control process.

import { resolve } from 'node:path';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import type { Certificates } from '../edge/tls/certificates.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ReservedAddress } from '../gateway/managed-server.ts';
import { collectReadBuffers } from '../monitoring/buffer-collection.ts';
import { AFTER_START, collectWhenIdle, thisProcess } from '../monitoring/idle-collection.ts';
import { metricsFor } from '../monitoring/metrics.ts';
import { NO_PRIMARY, primaryMetrics } from '../monitoring/primary-metrics.ts';
import { handleUncaughtExceptions } from '../monitoring/uncaught-exceptions.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { openDatabase } from '../store/database/open-database.ts';
import { greeting } from './greeting.ts';
import type { Output } from './output.ts';

/** The time in addition to the drain after which a stop is forced; milliseconds. */
const FORCED_STOP_MS = 30_000;

export interface ServeOptions {
  config: Config;
  log: Logger;
  output: Output;
  /** The directory of the repository. */
  root: string;
  /** The address of the API, where it is reserved already. */
  address?: ReservedAddress;
  /** The certificates of listeners, where they are opened already. */
  certificates?: Promise<Certificates>;
  /** The admin listener, where the primary has it. */
  admin?: { url: string } | undefined;
  /** Called when a stop is done. The process ends when it resolves. */
  onStopped?(): Promise<void>;
  /** Called when the gateway serves, before anything is printed: a reader of the output may stop the process at once. */
  onServing(gateway: ServedGateway): void;
  /** Whether the start is printed. */
  isGreeted: boolean;
}

export interface ServedGateway extends Pick<Gateway, 'reasonNotReady'> {
  readonly registry: Registry;
  /** Stops the gateway, and ends the process. A second call ends it at once. @param isHandedOver as `Gateway.close` takes it. */
  stop(signal: string, isHandedOver?: boolean): void;
}

/** Starts the gateway. @throws as `startGateway` does. */
export async function serveGateway({
  config,
  log,
  output,
  root,
  isGreeted,
  address,
  certificates,
  admin,
  onStopped,
  onServing,
}: ServeOptions): Promise<ServedGateway> {
  const { logs, out, exit } = output;
  const onFatal = (text: string) => {
    log.fatal(text);
    void exit(1);
  };
  // The embedded database starts in a thread of its own, while this one loads the rest of the code.
  const database = openDatabase(config, { onFatal, onNotice: (text) => log.warn(text) });
  database.catch(() => {}); // The start of the gateway reports it.
  const { startGateway } = await import('../gateway/gateway.ts');
  const registry = new Registry();
  const metrics = metricsFor(registry);
  metrics.counter('gateway_log_lines_dropped_total', 'Log lines that nobody took in time.', [], () => [
    [{}, logs.dropped],
  ]);
  if (!admin) primaryMetrics(registry, NO_PRIMARY);
  const gateway: Gateway = await startGateway(config, {
    log,
    database,
    address,
    certificates,
    admin,
    migrations: resolve(root, 'prisma/migrations'),
    dashboard: resolve(root, 'dist/dashboard'),
    docsRenderer: resolve(root, 'dist/bundle/rapidoc.js'),
    agentPackage: resolve(root, 'agent'),
    onFatal,
    registry,
  });
  handleUncaughtExceptions(log, metrics, onFatal);
  collectReadBuffers();
  collectWhenIdle(thisProcess(), AFTER_START);

  let stopping = false;
  const stop = (signal: string, isHandedOver = false) => {
    if (stopping) process.exit(1); // A second signal does not wait.
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(
      () => onFatal('stopping took too long'),
      config.drainAnnounceMs + config.drainMs + FORCED_STOP_MS,
    ).unref();
    gateway.close(isHandedOver).then(
      async () => {
        await onStopped?.();
        void exit(0);
      },
      (error) => {
        log.error({ err: describeFailure(error) }, 'stopping failed');
        void exit(1);
      },
    );
  };
  const served = { stop, registry, reasonNotReady: gateway.reasonNotReady };
  onServing(served);
  if (isGreeted) out.write(greeting(gateway, config.publicApiUrl));
  return served;
}

// The process of a worker, which carries visitors and agents.

import { Registry } from 'prom-client';
import { startWorker, type Worker } from '../gateway/workers/worker.ts';
import { collectReadBuffers } from '../monitoring/buffer-collection.ts';
import { AFTER_START, collectWhenIdle, thisProcess } from '../monitoring/idle-collection.ts';
import { metricsFor } from '../monitoring/metrics.ts';
import { handleUncaughtExceptions } from '../monitoring/uncaught-exceptions.ts';
import { ConnectionCounts } from '../net/connection-counts.ts';
import { COUNTS_FD, COUNTS_RECORD, onPrimaryMessage, tellPrimary } from './messages.ts';
import { tellLastCounts, tellMetrics } from './own-metrics.ts';
import type { ServeOptions } from './serve-gateway.ts';
import { visitItself } from './visit-itself.ts';
import { sendHeartbeats } from './watchdog.ts';

/** Serves until the primary or the control process says otherwise. @param env of the process. @throws as `startWorker` does. */
export async function runWorker(
  { config, log, output }: Pick<ServeOptions, 'config' | 'log' | 'output'>,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const { logs, exit } = output;
  const directory = config.nodeLink?.localDirectory;
  if (directory === undefined) throw new Error('a worker reaches the control process over a unix socket');
  const onFatal = (text: string) => {
    log.fatal(text);
    void exit(1);
  };
  let worker: Worker | undefined;
  const registry = new Registry();
  const end = () => void tellLastCounts(registry).then(() => exit(0));
  onPrimaryMessage(({ type }) => {
    if (!worker) return void exit(0);
    if (type === 'drain') void worker.close(config.drainStreamsMs, true).then(end);
    if (type === 'stop') void worker.close(config.drainMs, false).then(end);
    if (type === 'pauseMoves')
      void worker.dataPlane.moves?.pause().then(() => void tellPrimary({ type: 'movesPaused' }));
    if (type === 'resumeMoves') worker.dataPlane.moves?.resume();
    if (type === 'tellMetrics') void tellMetrics(registry);
    if (type === 'cut') void worker.cut().then(end);
  });
  const metrics = metricsFor(registry);
  metrics.counter('gateway_log_lines_dropped_total', 'Log lines that nobody took in time.', [], () => [
    [{}, logs.dropped],
  ]);
  // A primary of an earlier release has no such file.
  const record = env[COUNTS_RECORD];
  const counts = record === undefined ? undefined : new ConnectionCounts(COUNTS_FD, Number(record));
  worker = await startWorker(config, { counts, log, registry, directory, onStopped: end });
  handleUncaughtExceptions(log, metrics, onFatal);
  collectReadBuffers();
  collectWhenIdle(thisProcess(), AFTER_START);
  await visitItself(worker.dataPlane);
  await tellMetrics(registry);
  void tellPrimary({ type: 'ready' });
  sendHeartbeats(config.watchdogMs);
}

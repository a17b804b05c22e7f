// For `--import` into a gateway with workers: on SIGUSR2 its primary writes what it holds to the file in PRIMARY_RESOURCES_FILE.

import cluster from 'node:cluster';
import { readdirSync, writeFileSync } from 'node:fs';

const file = process.env.PRIMARY_RESOURCES_FILE;
if (cluster.isPrimary && file)
  process.on('SIGUSR2', () => {
    /** @type {Record<string, number>} */
    const resources = {};
    for (const type of process.getActiveResourcesInfo()) resources[type] = (resources[type] ?? 0) + 1;
    const listenersOf = (/** @type {import('node:events').EventEmitter} */ emitter) =>
      emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
    const workers = Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []);
    const listeners = {
      process: listenersOf(process),
      cluster: listenersOf(cluster),
      processes: workers.reduce((sum, worker) => sum + listenersOf(worker) + listenersOf(worker.process), 0),
    };
    const descriptors = readdirSync('/proc/self/fd').length;
    writeFileSync(file, JSON.stringify({ resources, listeners, descriptors, rss: process.memoryUsage().rss }));
  });

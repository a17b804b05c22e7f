// A gateway of a demo, as a process of its own.

import { linesUntil } from './processes.js';

const FREE_PORTS = Object.fromEntries(['API', 'ADMIN', 'AGENT', 'HTTP', 'HTTPS'].map((name) => [`${name}_PORT`, '0']));

/**
 * @typedef {object} DemoGateway
 * @property {import('node:child_process').ChildProcess} child
 * @property {string} ready the line that it prints when it is ready.
 * @property {string} key the API key, where this start has made it.
 * @property {(name: string) => string} at the address of a listener: a URL for `api` and `admin`, otherwise `host:port`.
 */

/**
 * Starts a gateway on free ports, and waits until it is ready.
 * @param {import('./processes.js').Processes} processes
 * @param {string} dataDir
 * @param {Record<string, string>} [env]
 * @returns {Promise<DemoGateway>}
 */
export async function startGateway(processes, dataDir, env = {}) {
  const child = processes.start('dist/bundle/main.js', [], {
    ...FREE_PORTS,
    TCP_PORTS: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'error',
    ...env,
  });
  const printed = await linesUntil(child, /^ready /);
  const ready = printed.at(-1) ?? '';
  return {
    child,
    ready,
    key: printed.find((line) => line.startsWith('API key: '))?.slice('API key: '.length) ?? '',
    at: (name) => new RegExp(` ${name}=(\\S+)`).exec(ready)?.[1] ?? '',
  };
}

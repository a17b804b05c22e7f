// A gateway of its own for the browser: the real process, on free ports, with data that is thrown away.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '../..');

/** @returns {Promise<{ api: string, apiKey: string, stop(): Promise<void> }>} */
export async function startGateway() {
  const data = mkdtempSync(join(tmpdir(), 'gateway-browser-'));
  const child = spawn(process.execPath, [join(root, 'dist/main.js')], {
    env: { PATH: process.env.PATH, API_PORT: '0', ADMIN_PORT: '0', DATA_DIR: data, DRAIN_MS: '500', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
    rmSync(data, { recursive: true, force: true });
  };
  let apiKey = '';
  for await (const line of createInterface({ input: child.stdout })) {
    apiKey ||= /^API key: (\S+)$/.exec(line)?.[1] ?? '';
    const api = /^ready .*\bapi=(\S+)/.exec(line)?.[1];
    if (!api) continue;
    child.stdout.resume();
    return { api, apiKey, stop };
  }
  await stop();
  throw new Error('the gateway ended before it was ready');
}

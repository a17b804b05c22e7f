// The servers that may be a bus between gateways. Tests of those that do not answer are skipped.

import { connect } from 'node:net';
import { natsBus } from '../../src/store/changes/nats-bus.ts';
import type { PeerBus } from '../../src/store/changes/peer-bus.ts';
import { redisBus } from '../../src/store/changes/redis-bus.ts';

const PROBE_MS = 1000;

export interface TestBus {
  name: 'nats' | 'redis';
  url: string;
  isThere: boolean;
  open(url: string, channel: string): Promise<PeerBus>;
}

const answers = (url: string) =>
  new Promise<boolean>((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const settle = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on('connect', () => settle(true)).on('error', () => settle(false));
    socket.setTimeout(PROBE_MS, () => settle(false));
  });

async function testBus(name: TestBus['name'], variable: string, usual: string, open: TestBus['open']) {
  const url = process.env[variable] || usual;
  const isThere = await answers(url);
  if (!isThere) process.stderr.write(`No server answers at ${url} (${variable}): its tests are skipped.\n`);
  return { name, url, isThere, open };
}

export const testBuses: TestBus[] = await Promise.all([
  testBus('nats', 'TEST_NATS_URL', 'nats://127.0.0.1:4222', natsBus),
  testBus('redis', 'TEST_REDIS_URL', 'redis://127.0.0.1:6379', redisBus),
]);

/** The same URL with another port of this machine. */
export function throughPort(url: string, port: number): string {
  const changed = new URL(url);
  changed.hostname = '127.0.0.1';
  changed.port = String(port);
  return changed.href;
}

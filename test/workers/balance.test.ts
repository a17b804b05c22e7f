// Connections that come at once and stay are spread over the workers, and one that hangs or has ended keeps nobody waiting.

import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { listen } from '../agent/client/peer.ts';
import { newClient, PATIENT } from '../agent/client/support.ts';
import { serve } from '../cluster/support.ts';
import { eventually } from '../support/eventually.ts';
import { openAtOnce, SHARE_MIN, sharesOf } from './kept.ts';
import { LONG, type ProcessGroup, startProcessGroup, WORKERS } from './support.ts';

const CONNECTIONS = 64;
const ROUNDS = 3;
const AGENTS = 64;

let group: ProcessGroup;
beforeAll(async () => {
  group = await startProcessGroup();
});
afterAll(() => group?.close());

/** The address of a TCP tunnel whose visitors stay. */
async function tcpTunnel(): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {}).resume());
  onTestFinished(() => void server.close());
  const url = await serve(await group.agentAt(0), await listen(server), { protocol: 'tcp' });
  const address = `127.0.0.1:${new URL(url).port}`;
  // The worker without the agent listens a moment later.
  await eventually(async () => {
    const kept = openAtOnce(address, CONNECTIONS);
    await kept.open;
    const shares = await sharesOf(group, address, CONNECTIONS);
    kept.end();
    await sharesOf(group, address, 0);
    expect(Math.min(...shares)).toBeGreaterThan(0);
  });
  return address;
}

const listeners: Record<'http' | 'https' | 'tcp', () => string | Promise<string>> = {
  http: () => group.gateway.http,
  https: () => group.gateway.https,
  tcp: tcpTunnel,
};

test.each(['http', 'https', 'tcp'] as const)(
  'of %s connections that come at once and stay, each worker has 40 to 60 percent',
  LONG,
  async (protocol) => {
    const listener = await listeners[protocol]();
    const shares: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // All wait when the first worker goes on.
      const pids = WORKERS.map((worker) => group.kill(worker, 'SIGSTOP'));
      const kept = openAtOnce(listener, CONNECTIONS, protocol === 'https' ? group.ca : undefined);
      await kept.open;
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      shares.push(...(await sharesOf(group, listener, CONNECTIONS)));
      kept.end();
      await sharesOf(group, listener, 0);
    }
    expect(shares).toHaveLength(ROUNDS * WORKERS.length);
    expect(Math.min(...shares), shares.join(' ')).toBeGreaterThanOrEqual(SHARE_MIN);
  },
);

test('of agents that come at once, each worker has 40 to 60 percent', LONG, async () => {
  const { agent, authtoken = '' } = group.gateway;
  const [host = '', port] = agent.split(':');
  const place = { host, port: Number(port), ca: group.ca };
  const agents = Array.from({ length: AGENTS }, () => newClient(place, { authtoken, legs: 1 }, PATIENT));
  onTestFinished(() => Promise.all(agents.map(({ client }) => client.close())).then(() => undefined));
  await Promise.all(agents.map((one) => one.until(() => one.client.status.state === 'online')));
  const shares = await sharesOf(group, agent, AGENTS);
  expect(Math.min(...shares), shares.join(' ')).toBeGreaterThanOrEqual(SHARE_MIN);
});

test('while one worker hangs, the other accepts all; when it goes on, it catches up', LONG, async () => {
  const { http } = group.gateway;
  await group.at(0, async () => {
    openAtOnce(http, CONNECTIONS);
    expect(await sharesOf(group, http, CONNECTIONS)).toEqual([1, 0]);
  });
  await catchesUp(CONNECTIONS);
});

test('a worker that takes the place of one that was killed catches up with the other', LONG, async () => {
  const { http } = group.gateway;
  openAtOnce(http, CONNECTIONS);
  const [first = 0] = await sharesOf(group, http, CONNECTIONS);
  group.kill(1, 'SIGKILL');
  await group.settled();
  await catchesUp(first * CONNECTIONS);
});

/** Opens more connections until both workers have about as many. @param count of those that there are. */
async function catchesUp(count: number): Promise<void> {
  const { http } = group.gateway;
  let all = count;
  await eventually(
    async () => {
      openAtOnce(http, CONNECTIONS);
      all += CONNECTIONS;
      const shares = await sharesOf(group, http, all);
      expect(Math.min(...shares), shares.join(' ')).toBeGreaterThanOrEqual(SHARE_MIN);
    },
    { timeout: 20_000, interval: 500 },
  );
}

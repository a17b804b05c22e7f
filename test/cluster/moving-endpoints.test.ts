// How many visitors wait for endpoints that move, and for how long.

import { expect, test } from 'vitest';
import type { ClusterCalls } from '../../src/cluster/cluster-calls.ts';
import { type Movable, MovingEndpoints } from '../../src/cluster/moving-endpoints.ts';
import type { CallHandler, NodeLink } from '../../src/cluster/node-link.ts';

const LINK = {} as NodeLink;

async function moving(...movables: Movable[]) {
  const clock = { ms: 1000 };
  const endpoints = new MovingEndpoints(() => clock.ms);
  await callOf(endpoints, 'moving')({ movables }, LINK);
  return { clock, endpoints };
}

function callOf(endpoints: MovingEndpoints, method: string): CallHandler {
  const [, handler] = endpoints.methods.find(([name]) => name === method) ?? [];
  if (!handler) throw new Error(`no call is named ${method}`);
  return handler;
}

/** Calls that reach one other node. */
function callsTo(other: MovingEndpoints) {
  let count = 0;
  const calls: Pick<ClusterCalls, 'callAll'> = {
    async callAll<T extends object>(method: string, body: object) {
      count++;
      return { answers: new Map([['node', (await callOf(other, method)(body, LINK)) as T]]), silent: [] };
    },
  };
  return { calls, count: () => count };
}

test('visitors wait for a name that moves, and for one below a wildcard that moves; others do not', async () => {
  const { endpoints } = await moving('http:one.test', 'http:*.two.test');
  expect(await endpoints.wait(['http:one.test'])).toBe(true);
  expect(await endpoints.wait(['http:a.two.test', 'http:*.two.test', 'http:*.test'])).toBe(true);
  expect(await endpoints.wait(['tls:one.test', 'tls:*.test'])).toBe(false);
});

test('they wait for ten seconds after the node has said so', async () => {
  const { clock, endpoints } = await moving('http:one.test');
  clock.ms += 9999;
  expect(await endpoints.wait(['http:one.test'])).toBe(true);
  clock.ms += 1;
  expect(await endpoints.wait(['http:one.test'])).toBe(false);
});

test('1,000 wait for one endpoint, and 10,000 in all', async () => {
  const addresses = Array.from({ length: 12 }, (_, i): Movable => `http:${i}.test`);
  const { endpoints } = await moving(...addresses);
  const crowd = (address: Movable, count: number) => Array.from({ length: count }, () => endpoints.wait([address]));
  const [first] = addresses as [Movable];
  const waits = crowd(first, 1001);
  expect(await waits.at(-1)).toBe(false);
  for (const address of addresses.slice(1)) waits.push(...crowd(address, 1000));
  const waited = (await Promise.all(waits)).filter((isWaiting) => isWaiting);
  expect(waited).toHaveLength(10_000);
  expect(await endpoints.wait([first])).toBe(true); // There is room again.
});

test('a node that joins after a move was announced asks whether what its visitors want moves, for 15 seconds', async () => {
  const clock = { ms: 1000 };
  const stopping = new MovingEndpoints(() => clock.ms);
  await stopping.announce(callsTo(new MovingEndpoints(() => clock.ms)).calls, ['http:one.test']);
  expect(await stopping.wait(['http:one.test'])).toBe(false); // Its own visitors have no reason to wait.
  const joining = new MovingEndpoints(() => clock.ms);
  const others = callsTo(stopping);
  expect(await joining.wait(['http:one.test'])).toBe(false);
  joining.join(others.calls);
  expect(await joining.wait(['http:one.test', 'http:*.test'])).toBe(true);
  expect(await joining.wait(['http:other.test'])).toBe(false);
  expect(others.count()).toBe(2);
  expect(await joining.wait(['http:one.test'])).toBe(true); // It knows now.
  expect(others.count()).toBe(2);
  clock.ms += 15_000;
  await stopping.announce(callsTo(new MovingEndpoints(() => clock.ms)).calls, ['http:one.test']);
  expect(await joining.wait(['http:one.test'])).toBe(false);
});

test('visitors of unknown names cause 32 questions at once at most', async () => {
  const joining = new MovingEndpoints(() => 1000);
  const others = callsTo(new MovingEndpoints(() => 1000));
  joining.join(others.calls);
  await Promise.all(Array.from({ length: 100 }, (_, i) => joining.wait([`http:${i}.test`])));
  expect(others.count()).toBe(32);
});

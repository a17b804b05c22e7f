// How many visitors wait for endpoints that move, and for how long.

import { expect, test } from 'vitest';
import { type Movable, MovingEndpoints } from '../../src/cluster/moving-endpoints.ts';
import type { NodeLink } from '../../src/cluster/node-link.ts';

const LINK = {} as NodeLink;

async function moving(...movables: Movable[]) {
  const clock = { ms: 1000 };
  const endpoints = new MovingEndpoints(() => clock.ms);
  const [, announce] = endpoints.method;
  await announce({ movables }, LINK);
  return { clock, endpoints };
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

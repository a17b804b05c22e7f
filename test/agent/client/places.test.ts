// Where a client finds its gateways: addresses, names, and names with several addresses.

import dns from 'node:dns';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { dial } from '../../../agent/src/client/dial.ts';
import { findPlaces, type Place } from '../../../agent/src/client/places.ts';
import { lookUp } from '../../../agent/src/look-up.ts';
import { type Peer, startPeer } from './peer.ts';
import { newClient } from './support.ts';

const DAY_MS = 24 * 3_600_000;
const { signal: never } = new AbortController();
const names: Record<string, string[]> = {
  'three.test': ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  'six.test': ['2001:db8::1', '2001:db8::2', '192.0.2.1'],
  'both.test': ['2001:db8::1', '192.0.2.1'],
  'one.test': ['192.0.2.1'],
  'many.test': Array.from({ length: 40 }, (_, i) => `192.0.2.${i}`),
};
const find = async (name: string) => {
  const found = names[name];
  if (!found) throw new Error('ENOTFOUND');
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};
const placesOf = (...hosts: string[]) =>
  findPlaces(
    hosts.map((host) => ({ host, port: 443 })),
    DAY_MS,
    never,
    find,
  );
const at = (host: string, ...addresses: string[]): Place[] =>
  addresses.map((address) => ({ host, port: 443, address }));

test.each([
  ['an address', ['192.0.2.9', '::1'], ['192.0.2.9', '::1'].map((host) => ({ host, port: 443 }))],
  ['a name with one address', ['one.test'], [{ host: 'one.test', port: 443 }]],
  ['a name with one of each family, which is one machine', ['both.test'], [{ host: 'both.test', port: 443 }]],
  ['a name with several addresses', ['three.test'], at('three.test', '192.0.2.1', '192.0.2.2', '192.0.2.3')],
  ['a name with several of one family', ['six.test'], at('six.test', '2001:db8::1', '2001:db8::2', '192.0.2.1')],
  [
    'a name that nobody knows',
    ['none.test', 'one.test'],
    ['none.test', 'one.test'].map((host) => ({ host, port: 443 })),
  ],
])('%s', async (_, hosts, places) => {
  expect(await placesOf(...hosts)).toEqual(places);
});

test('a name may have any number of addresses, of which some are taken', async () => {
  expect(await placesOf('many.test')).toHaveLength(16);
});

test('a name server that does not answer is not waited for for long, nor by an agent that is stopping', async () => {
  const deaf = () => new Promise<never>(() => {});
  const gateway = { host: 'deaf.test', port: 443 };
  expect(await findPlaces([gateway], 10, never, deaf)).toEqual([gateway]);
  expect(await findPlaces([gateway], DAY_MS, AbortSignal.abort(), deaf)).toEqual([gateway]);
});

test('where one gateway is an address, a name server that does not answer is not waited for', async () => {
  const deaf = () => new Promise<never>(() => {});
  const gateways = ['deaf.test', '192.0.2.9'].map((host) => ({ host, port: 443 }));
  expect(await findPlaces(gateways, DAY_MS, never, deaf)).toEqual(gateways);
});

test('a name is looked up once at a time, and two names at most: threads are left for files', async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  vi.spyOn(dns, 'lookup').mockImplementation(((name: string, _options: object, found: (...all: unknown[]) => void) => {
    asked.push(name);
    answers.push(() => found(null, [{ address: '192.0.2.1', family: 4 }]));
  }) as unknown as typeof dns.lookup);
  onTestFinished(() => void vi.restoreAllMocks());
  const all = ['a.test', 'a.test', 'b.test', 'c.test', 'a.test', 'c.test'].map(lookUp);
  await new Promise(setImmediate);
  expect(asked).toEqual(['a.test', 'b.test']);
  answers[0]?.();
  await all[0];
  await new Promise(setImmediate);
  expect(asked).toEqual(['a.test', 'b.test', 'c.test']);
  for (const answer of answers.slice(1)) answer();
  expect((await Promise.all(all)).flat()).toHaveLength(6);
});

let peer: Peer;
beforeEach(async () => {
  peer = await startPeer();
});
afterEach(() => peer.close());

test('one of several addresses is connected to under the name that they share', async () => {
  const timing = { dial: 5000, tls: 5000 };
  const place = { host: 'localhost', port: peer.port, ca: peer.ca, proxy: null };
  const socket = await dial({ ...place, address: '127.0.0.1' }, timing, never);
  expect([socket.authorized, socket.servername, socket.remoteAddress]).toEqual([true, 'localhost', '127.0.0.1']);
  socket.destroy();
  const failed = dial({ ...place, port: 1, address: '127.0.0.1' }, timing, never);
  await expect(failed).rejects.toThrow('the gateway at localhost:1 (127.0.0.1) cannot be reached');
});

test('this machine by its name is one place, and gets one session', async () => {
  const agent = newClient({ ...peer, host: 'localhost' });
  peer.script.node = 'node_0';
  await agent.open().answered;
  expect(agent.client.status.legs).toMatchObject([{ gateway: `localhost:${peer.port}` }]);
  await agent.client.close();
});

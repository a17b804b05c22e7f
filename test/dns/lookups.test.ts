// How the gateway is asked for names: within limits, and never so that an answer is older than its question.

import { afterEach, expect, test } from 'vitest';
import type { NameContent } from '../../src/dns/zone-names.ts';
import { query, readAnswer, UdpClient } from '../support/dns/client.ts';
import { startResponder, type TestResponder, type TestResponderOptions } from '../support/dns/responder.ts';

const SERVFAIL = 2;
const NAME = 'abc.acme.tunnel.test';

/** A look-up whose end is in the hands of the test. */
interface Pending {
  name: string;
  resolve(content: NameContent): void;
  reject(error: Error): void;
}

let server: TestResponder;
let udp: UdpClient;
let pending: Pending[];

async function start(limits?: TestResponderOptions['limits']): Promise<void> {
  pending = [];
  const find = (name: string) =>
    new Promise<NameContent>((resolve, reject) => {
      pending.push({ name, resolve, reject });
    });
  server = await startResponder({ find, limits });
  udp = new UdpClient(server.port);
}
afterEach(async () => {
  udp.close();
  await server.close();
});

/** Sends questions for names, of which each has its place as its id, and waits until they have come. */
async function send(...names: string[]): Promise<void> {
  names.forEach((name, index) => {
    udp.send(query(name, 'TXT', { id: index + 1, edns: {} }));
  });
  // The SOA of a zone is known without a look-up, and datagrams are handled in their order.
  expect((await udp.ask(query('tunnel.test', 'SOA', { id: 999 }))).packet.readUInt16BE(0)).toBe(999);
}

async function answer(): Promise<{ id: number; code: number; values: string[] }> {
  const { packet, code, answers } = readAnswer(await udp.next());
  return { id: packet.readUInt16BE(0), code, values: answers.map((text) => text.split(' ').at(-1) ?? '') };
}

const values = (...txt: string[]): NameContent => ({ kind: 'text', txt });

test('who asks while a name is looked up shares the next look-up, so that a value published before is seen', async () => {
  await start();
  await send(NAME);
  await send('x.tunnel.test', NAME, NAME.toUpperCase(), NAME);
  expect(pending.map(({ name }) => name)).toEqual([NAME, 'x.tunnel.test']);
  pending[0]?.resolve(values('old'));
  expect(await answer()).toEqual({ id: 1, code: 0, values: ['old'] });
  await expect.poll(() => pending.length).toBe(3);
  pending[2]?.resolve(values('new'));
  for (const id of [2, 3, 4]) expect(await answer()).toEqual({ id, code: 0, values: ['new'] });
  expect(pending).toHaveLength(3);
});

test('a look-up that fails fails its own questions alone', async () => {
  await start();
  await send(NAME);
  await send('x.tunnel.test', NAME);
  pending[0]?.reject(new Error('the database is away'));
  expect(await answer()).toMatchObject({ id: 1, code: SERVFAIL });
  await expect.poll(() => pending.length).toBe(3);
  pending[2]?.resolve(values('there'));
  expect(await answer()).toEqual({ id: 2, code: 0, values: ['there'] });
});

test('a look-up that hangs is given up after a second, without holding up others or the name itself', async () => {
  await start();
  await send(NAME);
  server.clock.advance(999);
  await send('x.tunnel.test');
  pending[1]?.resolve(values('quick'));
  expect(await answer()).toMatchObject({ values: ['quick'] });
  server.clock.advance(1);
  expect(await answer()).toMatchObject({ id: 1, code: SERVFAIL });
  await send(NAME);
  pending[2]?.resolve(values('back'));
  expect(await answer()).toMatchObject({ code: 0, values: ['back'] });
  pending[0]?.resolve(values('late'));
  await send();
});

test('questions over the limits are answered with SERVFAIL at once, and the limits are free again later', async () => {
  await start({ lookups: 2, waiting: 3 });
  for (const [index, name] of ['a', 'b', 'c', 'a', 'b'].entries())
    udp.send(query(`${name}.tunnel.test`, 'TXT', { id: index + 1, edns: {} }));
  // The third would be a third look-up; the fifth would be the fourth question that waits.
  expect(await answer()).toMatchObject({ id: 3, code: SERVFAIL });
  expect(await answer()).toMatchObject({ id: 5, code: SERVFAIL });
  pending[0]?.resolve(values('one'));
  pending[1]?.resolve(values('two'));
  expect([await answer(), await answer()]).toMatchObject([{ id: 1 }, { id: 2 }]);
  await expect.poll(() => pending.length).toBe(3);
  pending[2]?.resolve(values('three'));
  expect(await answer()).toMatchObject({ id: 4, values: ['three'] });
  await send('c.tunnel.test');
  pending[3]?.resolve(values('four'));
  expect(await answer()).toMatchObject({ values: ['four'] });
});

test('failures are counted each, and logged once in ten seconds', async () => {
  await start();
  const failOne = async () => {
    await send(NAME);
    pending.at(-1)?.reject(new Error('the database is away'));
    expect(await answer()).toMatchObject({ code: SERVFAIL });
  };
  for (let i = 0; i < 5; i++) await failOne();
  server.clock.advance(10_000);
  await failOne();
  expect(server.responder.counters.failures).toBe(6);
  expect(server.responder.counters.answers.udp.SERVFAIL).toBe(6);
  expect(server.logged.map(({ msg, err }) => `${msg}: ${err?.message}`)).toEqual(
    Array(2).fill('The names of a DNS zone could not be looked up: the database is away'),
  );
});

// Connections over TCP: many questions at once, slow clients, and how many there may be.

import { afterEach, describe, expect, test } from 'vitest';
import type { NameContent } from '../../src/dns/zone-names.ts';
import { framed, query, readAnswer, TcpClient, words } from '../support/dns/client.ts';
import { startResponder, type TestResponder, type TestResponderOptions } from '../support/dns/responder.ts';

const IDLE_MS = 10_000;
const NAME = 'app.tunnel.test';

let server: TestResponder;
const clients: TcpClient[] = [];

async function start(options?: TestResponderOptions): Promise<void> {
  server = await startResponder(options);
  server.contents.set(NAME, { kind: 'addresses' });
}
async function connectFrom(localAddress?: string): Promise<TcpClient> {
  const client = await TcpClient.connect(server.port, '127.0.0.1', { localAddress });
  clients.push(client);
  return client;
}
/** Asks for what is always there. */
const ask = (client: TcpClient, id = 1) => client.ask(query(NAME, 'A', { id }));

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await server.close();
});

describe('questions that are sent without waiting for answers', () => {
  test('each get their own, in whatever order the answers are ready', async () => {
    const pending = new Map<string, (content: NameContent) => void>();
    await start({ find: (name) => new Promise((resolve) => pending.set(name, resolve)) });
    const client = await connectFrom();
    const count = 200;
    client.send(...Array.from({ length: count }, (_, id) => query(`n${id}.acme.tunnel.test`, 'TXT', { id })));
    const order: number[] = [];
    while (order.length < count) {
      await expect.poll(() => pending.size).toBeGreaterThan(0);
      // The newest first.
      const [name, resolve] = [...pending].at(-1) as [string, (content: NameContent) => void];
      pending.delete(name);
      resolve({ kind: 'text', txt: [`of ${name}`] });
      const { packet, answers } = readAnswer(await client.next());
      const id = packet.readUInt16BE(0);
      expect(answers).toEqual([`n${id}.acme.tunnel.test 0 TXT of n${id}.acme.tunnel.test`]);
      order.push(id);
    }
    expect(new Set(order).size).toBe(count);
    expect(order).not.toEqual([...order].sort((a, b) => a - b));
  });

  test('are looked up a few at once', async () => {
    await start({ find: () => new Promise(() => {}) });
    const client = await connectFrom();
    client.send(...Array.from({ length: 100 }, (_, id) => query(`n${id}.tunnel.test`, 'TXT', { id })));
    const other = await connectFrom();
    await expect.poll(() => server.asked.length).toBe(16);
    // A second connection is not held up, and what the first one has sent was read by then.
    expect(await other.ask(query('tunnel.test', 'SOA'))).toMatchObject({ code: 0 });
    expect(server.asked).toHaveLength(16);
    server.clock.advance(1000);
    await expect.poll(() => server.asked.length).toBe(32);
  });

  test('are answered also when the client sends its end behind them', async () => {
    await start();
    const client = await connectFrom();
    client.send(...Array.from({ length: 40 }, (_, id) => query(`n${id}.tunnel.test`, 'A', { id })));
    client.socket.end();
    for (let i = 0; i < 40; i++) expect(readAnswer(await client.next()).code).toBe(3);
    await client.closed;
  });

  test('may come byte by byte', async () => {
    await start();
    const client = await connectFrom();
    for (const byte of framed(query(NAME, 'A', { id: 7 }))) client.socket.write(Buffer.of(byte));
    expect((await client.next()).readUInt16BE(0)).toBe(7);
    expect(await ask(client)).toMatchObject({ code: 0 });
  });
});

describe('a connection is closed', () => {
  test('after ten seconds without a question, but not while questions come', async () => {
    await start();
    const client = await connectFrom();
    for (let i = 0; i < 3; i++) {
      server.clock.advance(IDLE_MS - 1);
      expect(await ask(client)).toMatchObject({ code: 0 });
    }
    server.clock.advance(IDLE_MS);
    await client.closed;
    await expect.poll(() => server.responder.connections).toBe(0);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a piece of a question', framed(query(NAME, 'A')).subarray(0, -1)],
    ['answers', framed(query(NAME, 'A', { flags: 0x8000 }))],
  ])('when there is %s for ten seconds', async (_, bytes) => {
    await start();
    const client = await connectFrom();
    await ask(client);
    client.socket.write(bytes);
    server.clock.advance(IDLE_MS - 1);
    const other = await connectFrom();
    await ask(other);
    server.clock.advance(1);
    await client.closed;
    expect(await ask(other)).toMatchObject({ code: 0 });
  });

  test.each([0, 11, 4097, 65_535])('when a message of %i bytes is announced', async (length) => {
    await start();
    const client = await connectFrom();
    client.send(query(NAME, 'A', { id: 3 }));
    client.socket.write(words(length));
    await client.closed;
    expect(server.responder.counters.ignored).toBe(1);
  });
});

test('a client that does not take its answers has no more of its questions read, and ends', async () => {
  await start();
  server.contents.set('big.tunnel.test', {
    kind: 'text',
    txt: Array.from({ length: 200 }, (_, i) => `${i}`.repeat(60)),
  });
  const client = await connectFrom();
  const answerBytes = (await client.ask(query('big.tunnel.test', 'TXT'))).packet.length;
  const questions = 20_000;
  client.socket.pause();
  client.send(...Array.from({ length: questions }, () => query('big.tunnel.test', 'TXT')));
  // It is done when two looks see the same.
  let seen = -1;
  await expect
    .poll(
      () => {
        const before = seen;
        seen = server.responder.counters.answers.tcp.NOERROR;
        return seen > 1 && seen === before;
      },
      { interval: 200 },
    )
    .toBe(true);
  expect(seen).toBeLessThan(questions / 4);
  // What the kernel takes, and what the process keeps.
  expect(seen * answerBytes).toBeLessThan(32_000_000);
  server.clock.advance(IDLE_MS);
  await expect.poll(() => server.responder.connections).toBe(0);
  expect(await ask(await connectFrom())).toMatchObject({ code: 0 });
});

describe('with too many connections', () => {
  test('of a network, the one that was idle for longest makes room', async () => {
    await start({ limits: { connections: 100, connectionsPerNetwork: 3 } });
    const stranger = await connectFrom('127.0.1.1');
    await ask(stranger);
    const [first, second, third] = [
      await connectFrom(),
      await connectFrom('127.0.0.2'),
      await connectFrom('127.0.0.3'),
    ];
    for (const client of [second, third, first]) await ask(client as TcpClient);
    const fourth = await connectFrom('127.0.0.4');
    await ask(fourth);
    await second.closed;
    for (const client of [first, third, fourth, stranger]) expect(await ask(client)).toMatchObject({ code: 0 });
    expect(server.responder.counters).toMatchObject({ evicted: 1, refused: 0 });
    expect(server.responder.connections).toBe(4);
  });

  test('in all, too', async () => {
    await start({ limits: { connections: 2, connectionsPerNetwork: 2 } });
    const [first, second] = [await connectFrom('127.0.1.1'), await connectFrom('127.0.2.1')];
    for (const client of [first, second]) await ask(client);
    const third = await connectFrom('127.0.3.1');
    await ask(third);
    await first.closed;
    for (const client of [second, third]) expect(await ask(client)).toMatchObject({ code: 0 });
  });

  test('that all wait for answers, a new one is not accepted', async () => {
    const pending: ((content: NameContent) => void)[] = [];
    await start({
      find: () => new Promise((resolve) => pending.push(resolve)),
      limits: { connections: 2, connectionsPerNetwork: 2 },
    });
    const busy = [await connectFrom(), await connectFrom()];
    for (const [id, client] of busy.entries()) client.send(query(`n${id}.tunnel.test`, 'A', { id }));
    await expect.poll(() => pending.length).toBe(2);
    const third = await connectFrom();
    await third.closed;
    expect(server.responder.counters).toMatchObject({ evicted: 0, refused: 1 });
    for (const resolve of pending) resolve({ kind: 'none' });
    for (const client of busy) expect(readAnswer(await client.next()).code).toBe(3);
  });
});

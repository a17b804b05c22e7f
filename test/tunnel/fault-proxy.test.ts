// The fault proxy must be trusted before what is seen through it is: what it carries, how late and how fast.

import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  drain,
  has,
  hasEnded,
  type Lab,
  MIB,
  meets,
  NEVER_MS,
  POLL,
  pour,
  quiet,
  startLab,
  ways,
} from '../support/faults/fault-lab.ts';
import { type FaultProxy, startFaultProxy } from '../support/faults/fault-proxy.ts';
import { shortened } from '../support/shortened.ts';

let lab: Lab;
let proxy: FaultProxy;
beforeAll(async () => {
  lab = await startLab();
  proxy = lab.proxy;
});
afterEach(() => lab.tidy());
afterAll(() => lab.close());

describe('without a fault', () => {
  test.each(ways)(
    'bytes and ends pass both ways, the end $way first, and are counted',
    async ({ way, back, from, to }) => {
      const before = proxy.accepted;
      const gone = proxy.closed();
      const ends = await lab.open();
      ends[from].socket.end('a question');
      await has(ends[to], 'a question');
      await hasEnded(ends[to]);
      expect([...proxy.connections]).toEqual([ends.connection]);
      ends[to].socket.end('an answer, later');
      await has(ends[from], 'an answer, later');
      expect(await gone).toBe(ends.connection);
      await ends.connection.closed;
      await meets(ends[from], 'closed');
      expect(proxy.connections.size).toBe(0);
      expect(proxy.accepted).toBe(before + 1);
      expect(ends.connection[way]).toEqual({
        carried: 10,
        held: 0,
        mostHeld: expect.any(Number),
        lost: 0,
        dead: false,
      });
      expect(ends.connection[back]).toEqual({
        carried: 16,
        held: 0,
        mostHeld: expect.any(Number),
        lost: 0,
        dead: false,
      });
    },
  );

  test.each(ways)('a reset passes $way, behind the bytes', async ({ from, to }) => {
    const ends = await lab.open();
    ends[from].socket.write('last words', () => ends[from].socket.resetAndDestroy());
    await meets(ends[to], 'ECONNRESET');
    expect(ends[to].text).toBe('last words');
    await ends.connection.closed;
  });

  test('a target that refuses is seen as a reset', async () => {
    // A port that was free a moment ago may be another test's by now; nobody is given this one.
    const other = await startFaultProxy('127.0.0.1', 1);
    const gone = other.closed();
    await meets(lab.dial(other.port), 'ECONNRESET');
    await gone;
    await other.close();
  });

  test('a receiver that takes nothing stops the sender, and loses nothing', async () => {
    const { client, server, connection } = await lab.open();
    server.socket.pause();
    const [sent, total] = pour(client, 64 * MIB);
    await quiet(() => connection.up.carried);
    // The kernel's buffers of three sockets, and the proxy's own MiB.
    expect(connection.up.carried + connection.up.held).toBeLessThan(32 * MIB);
    const received = drain(server);
    server.socket.resume();
    expect(await received).toEqual({ digest: await sent, total });
  });
});

describe('a delay', () => {
  test.each(ways)('holds $way back and not $back', async ({ way, back, from, to }) => {
    const ends = await lab.open();
    proxy.shape({ delayMs: NEVER_MS }, way);
    ends[from].socket.write('late');
    await eventually(() => expect(ends.connection[way].held).toBe(4), POLL);
    ends[to].socket.write('now');
    await has(ends[from], 'now');
    expect(ends[to].text).toBe('');
    expect(ends.connection[back].held).toBe(0);
    await proxy.heal();
    await has(ends[to], 'late');
  });

  test('is as long as was asked, each way', async () => {
    proxy.shape({ delayMs: 40 });
    const { client, server } = await lab.open();
    server.socket.pipe(server.socket);
    const trips: number[] = [];
    for (let trip = 0; trip < 4; trip++) {
      const start = performance.now();
      client.socket.write('x');
      await once(client.socket, 'data');
      trips.push(performance.now() - start);
    }
    expect(Math.min(...trips)).toBeGreaterThan(79);
    expect(Math.min(...trips)).toBeLessThan(150);
  });

  test('keeps the order when it gets shorter, and the end behind the bytes', async () => {
    proxy.shape({ delayMs: 100 });
    const { client, server, connection } = await lab.open();
    const start = performance.now();
    client.socket.write('slow ');
    await eventually(() => expect(connection.up.held).toBe(5), POLL);
    proxy.shape({ delayMs: 0 });
    client.socket.end('fast');
    await has(server, 'slow fast');
    expect(performance.now() - start).toBeGreaterThan(99);
    await hasEnded(server);
  });

  // 64 MiB in 50 ms would be 1,300 MB/s.
  test.each(shortened([16, 64]).flatMap((mebibytes) => ways.map((way) => ({ mebibytes, ...way }))))(
    'has room for $mebibytes MiB on their way $way, and keeps up',
    async ({ mebibytes, way, from, to }) => {
      const bytes = mebibytes * MIB;
      const seconds = async () => {
        const ends = await lab.open();
        const start = performance.now();
        const received = drain(ends[to]);
        const [sent, total] = pour(ends[from], bytes);
        expect(await received).toEqual({ digest: await sent, total });
        return (performance.now() - start) / 1000;
      };
      const direct = await seconds();
      proxy.shape({ delayMs: 50 });
      expect(await seconds()).toBeLessThan(4 * direct + 0.3);
      proxy.shape({ delayMs: NEVER_MS });
      const ends = await lab.open();
      pour(ends[from], bytes);
      await eventually(() => expect(ends.connection[way].held).toBe(bytes), POLL);
    },
  );

  test('holds no more than its window, and loses nothing', async () => {
    const small = await startFaultProxy('127.0.0.1', lab.targetPort, 4 * MIB);
    small.shape({ delayMs: NEVER_MS });
    const { client, server, connection } = await lab.open(small);
    const received = drain(server);
    const [sent, total] = pour(client, 32 * MIB);
    await eventually(() => expect(connection.up.held).toBeGreaterThanOrEqual(4 * MIB), POLL);
    await lab.works();
    expect(connection.up.held).toBeLessThanOrEqual(4 * MIB + 65_536);
    small.shape({ delayMs: 1 });
    connection.heal();
    expect(await received).toEqual({ digest: await sent, total });
    await small.close();
  });
});

describe('a limit', () => {
  test.each(ways)('slows $way down, and the sender feels it', async ({ way, from, to }) => {
    const rate = 4e6;
    proxy.shape({ bytesPerSecond: rate }, way);
    const ends = await lab.open();
    const start = performance.now();
    const received = drain(ends[to]);
    const [sent] = pour(ends[from], MIB);
    let most = 0;
    ends[to].socket.on('data', () => {
      most = Math.max(most, ends.connection[way].held);
    });
    expect((await received).digest).toBe(await sent);
    const seconds = (performance.now() - start) / 1000;
    expect(MIB / seconds).toBeLessThan(rate * 1.05);
    expect(MIB / seconds).toBeGreaterThan(rate / 8);
    // 50 ms worth and a read; as much again when the timers are late.
    expect(most).toBeLessThan(0.6 * MIB);
  });

  test('that is lifted lets everything go at once', async () => {
    const { client, server, connection } = await lab.open();
    proxy.shape({ bytesPerSecond: 1 });
    client.socket.end('many seconds long');
    await eventually(() => expect(connection.up.held).toBeGreaterThan(0), POLL);
    await proxy.heal();
    await has(server, 'many seconds long');
    await hasEnded(server);
  });
});

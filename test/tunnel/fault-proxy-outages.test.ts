// The fault proxy must be trusted before what is seen through it is: how it keeps silent, and heals.

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

let lab: Lab;
let proxy: FaultProxy;
beforeAll(async () => {
  lab = await startLab();
  proxy = lab.proxy;
});
afterEach(() => lab.tidy());
afterAll(() => lab.close());

describe('a stall', () => {
  test.each(ways)('of one way holds $way until it is over, and $back flows', async ({ way, from, to }) => {
    const ends = await lab.open();
    proxy.shape({ outage: 'stall' }, way);
    ends[from].socket.end('held');
    ends[to].socket.write('now');
    await has(ends[from], 'now');
    ends.connection.shape({ outage: 'none' }, way);
    await has(ends[to], 'held');
    await hasEnded(ends[to]);
  });

  test('holds what is sent, ends and resets, and breaks nothing', async () => {
    const { client, server } = await lab.open();
    const other = await lab.open();
    proxy.shape({ outage: 'stall' });
    client.socket.end('up');
    server.socket.write('down');
    other.client.socket.resetAndDestroy();
    await meets(other.client, 'closed');
    const healthy = await startFaultProxy('127.0.0.1', lab.targetPort);
    await lab.open(healthy);
    expect([server.text, server.ended, client.text, other.server.fate]).toEqual(['', false, '', undefined]);
    await healthy.close();
    await proxy.heal();
    await has(server, 'up');
    await has(client, 'down');
    await hasEnded(server);
    await meets(other.server, 'ECONNRESET');
  });

  test('lets a new connection wait, which reaches the target afterwards', async () => {
    proxy.shape({ outage: 'stall' }, 'down');
    const client = lab.dial();
    client.socket.write('hello');
    await eventually(() => expect(proxy.connections.size).toBe(1), POLL);
    const arrived = lab.arrival();
    await proxy.heal();
    await has(await arrived, 'hello');
  });

  test('stops the sender: bytes that nobody takes stay with it', async () => {
    const { client, server, connection } = await lab.open();
    connection.shape({ outage: 'stall' });
    const received = drain(server);
    const [sent, total] = pour(client, 64 * MIB);
    await quiet(() => client.socket.writableLength);
    expect(connection.up.held).toBeLessThanOrEqual(MIB);
    expect(client.socket.writableLength).toBeGreaterThan(0);
    connection.heal();
    expect(await received).toEqual({ digest: await sent, total });
  });
});

describe('a black hole', () => {
  test.each(ways)('of one way loses $way for ever, and $back flows', async ({ way, from, to }) => {
    const ends = await lab.open();
    proxy.shape({ outage: 'black hole' }, way);
    ends[from].socket.write('lost');
    await eventually(() => expect(ends.connection[way].lost).toBe(4), POLL);
    ends[to].socket.write('heard');
    await has(ends[from], 'heard');
    await proxy.heal();
    ends[from].socket.end('too');
    await eventually(() => expect(ends.connection[way].lost).toBe(7), POLL);
    await lab.works();
    expect([ends[to].text, ends[to].ended, ends[to].fate]).toEqual(['', false, undefined]);
  });

  test('swallows without end: the sender never feels it', async () => {
    const { client, server, connection } = await lab.open();
    proxy.shape({ outage: 'black hole' });
    pour(client, 32 * MIB);
    await eventually(() => expect(connection.up.lost).toBe(32 * MIB), POLL);
    expect(connection.up.held).toBe(0);
    expect(server.text).toBe('');
  });

  test('takes what is on its way', async () => {
    const { client, server, connection } = await lab.open();
    proxy.shape({ delayMs: NEVER_MS });
    client.socket.write('on its way');
    await eventually(() => expect(connection.up.held).toBe(10), POLL);
    connection.shape({ outage: 'black hole' }, 'up');
    await proxy.heal();
    await lab.works();
    expect(connection.up).toEqual({ carried: 0, held: 0, mostHeld: 10, lost: 10, dead: true });
    expect(server.text).toBe('');
  });

  test.each(['end', 'resetAndDestroy'] as const)('tells nobody of an %s', async (how) => {
    const one = await lab.open();
    const other = await lab.open();
    proxy.shape({ outage: 'black hole' });
    one.client.socket[how]();
    other.server.socket[how]();
    await eventually(() => expect([one.connection.up.dead, other.connection.down.dead]).toEqual([true, true]), POLL);
    await proxy.heal();
    await lab.works();
    for (const { ended, fate, socket } of [one.server, other.client]) {
      expect([ended, fate]).toEqual([false, undefined]);
      socket.destroy();
    }
    await one.connection.closed;
    await other.connection.closed;
  });

  test('forgets a connection on which nothing was lost no more than a stall does', async () => {
    const { client, server } = await lab.open();
    proxy.shape({ outage: 'black hole' });
    await proxy.heal();
    client.socket.write('well again');
    await has(server, 'well again');
  });

  test('swallows new connections; a silent one gets through afterwards, one that spoke does not', async () => {
    proxy.shape({ outage: 'black hole' }, 'up');
    const spoke = lab.dial();
    spoke.socket.write('anybody?');
    const [first] = await eventually(() => {
      expect(proxy.connections.size).toBe(1);
      return [...proxy.connections];
    }, POLL);
    await eventually(() => expect(first?.up.lost).toBe(8), POLL);
    const silent = lab.dial();
    await eventually(() => expect(proxy.connections.size).toBe(2), POLL);
    const arrived = lab.arrival();
    await proxy.heal();
    silent.socket.write('hello');
    await has(await arrived, 'hello');
    // Its two ends, and `spoke`: nobody else has arrived.
    expect(lab.peers).toHaveLength(3);
    expect([spoke.fate, spoke.ended]).toEqual([undefined, false]);
    spoke.socket.end();
    await meets(spoke, 'closed');
    await first?.closed;
  });
});

// The fault proxy must be trusted before what is seen through it is: how it breaks connections, and heals.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { has, hasEnded, type Lab, meets, NEVER_MS, POLL, startLab, ways } from '../support/faults/fault-lab.ts';
import type { FaultProxy, ProxiedConnection } from '../support/faults/fault-proxy.ts';

let lab: Lab;
let proxy: FaultProxy;
beforeAll(async () => {
  lab = await startLab();
  proxy = lab.proxy;
});
afterEach(() => lab.tidy());
afterAll(() => lab.close());

describe('a break', () => {
  test('cut closes both sides', async () => {
    const { client, server } = await lab.open();
    await proxy.cut();
    expect(proxy.connections.size).toBe(0);
    await hasEnded(client);
    await hasEnded(server);
  });

  test('reset is seen as a reset by both sides', async () => {
    const { client, server } = await lab.open();
    await proxy.reset();
    expect(proxy.connections.size).toBe(0);
    await meets(client, 'ECONNRESET');
    await meets(server, 'ECONNRESET');
  });

  test.each(['cut', 'reset'] as const)('%s closes a connection whose end is just being sent', async (how) => {
    const { connection } = await lab.open();
    proxy.halfClose('up');
    await proxy[how]();
    await connection.closed;
  });

  test('what was on its way is lost when it is cut', async () => {
    const { client, server, connection } = await lab.open();
    proxy.shape({ delayMs: NEVER_MS });
    client.socket.write('gone');
    await eventually(() => expect(connection.up.held).toBe(4), POLL);
    await connection.cut();
    await hasEnded(server);
    expect(server.text).toBe('');
    expect(connection.up).toEqual({ carried: 0, held: 0, mostHeld: 4, lost: 4, dead: false });
  });

  test.each(ways)('half-close ends $way, loses what is sent after it, and leaves $back', async ({ way, from, to }) => {
    const ends = await lab.open();
    ends[from].socket.write('before');
    await has(ends[to], 'before');
    proxy.halfClose(way);
    await hasEnded(ends[to]);
    ends[from].socket.write('after');
    await eventually(() => expect(ends.connection[way].lost).toBe(5), POLL);
    ends[to].socket.write('still heard');
    await has(ends[from], 'still heard');
    await proxy.heal();
    ends[from].socket.write('after');
    await eventually(() => expect(ends.connection[way].lost).toBe(10), POLL);
    ends[to].socket.end();
    await hasEnded(ends[from]);
    ends[from].socket.end();
    await ends.connection.closed;
  });

  test('refused connections are refused by TCP, those that exist live on, and heal opens the same port', async () => {
    const { client, server } = await lab.open();
    proxy.refuse();
    await meets(lab.dial(), 'ECONNREFUSED');
    client.socket.write('still here');
    await has(server, 'still here');
    await proxy.heal();
    await lab.works();
  });
});

const faults: Record<string, (on: FaultProxy | ProxiedConnection) => unknown> = {
  delay: (on) => on.shape({ delayMs: NEVER_MS }),
  limit: (on) => on.shape({ bytesPerSecond: 1 }),
  stall: (on) => on.shape({ outage: 'stall' }),
  'black hole': (on) => on.shape({ outage: 'black hole' }),
  'black hole up': (on) => on.shape({ outage: 'black hole' }, 'up'),
  'black hole down': (on) => on.shape({ outage: 'black hole' }, 'down'),
  'half-close up': (on) => on.halfClose('up'),
  'half-close down': (on) => on.halfClose('down'),
  cut: (on) => on.cut(),
  reset: (on) => on.reset(),
};

describe.each(Object.entries(faults))('%s', (_, fault) => {
  test('of one connection leaves the others alone', async () => {
    const { connection } = await lab.open();
    const neighbour = await lab.open();
    await fault(connection);
    neighbour.client.socket.write('unharmed');
    await has(neighbour.server, 'unharmed');
    neighbour.server.socket.write('unharmed');
    await has(neighbour.client, 'unharmed');
    await lab.works();
  });

  test('leaves nothing open once it is healed and both ends have gone, whatever they did meanwhile', async () => {
    const reset = await lab.open();
    const ended = await lab.open();
    const lateClient = lab.dial();
    await eventually(() => expect(lateClient.socket.connecting).toBe(false), POLL);
    await fault(proxy);
    const during = lab.dial();
    during.socket.write('into it');
    reset.client.socket.resetAndDestroy();
    ended.server.socket.end('bye');
    await eventually(() => expect(during.socket.bytesWritten).toBe(7), POLL);
    await proxy.heal();
    await eventually(() => {
      for (const { socket } of lab.peers) socket.destroy();
      expect(proxy.connections.size).toBe(0);
    }, POLL);
    await lab.works();
  });
});

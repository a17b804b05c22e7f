// One stranger who sends ClientHellos that cost him nothing, beside others who want to come in.

import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HandshakeTurns } from '../../../src/edge/tls/handshake-turns.ts';
import { networksOf } from '../../../src/net/networks.ts';
import { AgentConnections } from '../../../src/tunnel/connections/agent-connections.ts';
import { eventually } from '../../support/eventually.ts';
import { type Edge, startEdge } from './support.ts';

const NAME = 'a.tunnel.localhost';
const STRANGER = '127.0.0.2';

let hello: Buffer;
beforeAll(async () => {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', onHello));
  let onHello = (_: Buffer) => {};
  const seen = new Promise<Buffer>((resolve) => {
    onHello = resolve;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const recorded = connectTls({ host: '127.0.0.1', port, servername: NAME, ecdhCurve: 'P-384' }).on('error', () => {});
  hello = await seen;
  recorded.destroy();
  server.close();
});

/** Sends the recorded hello on a connection of its own. */
async function replay(port: number, localAddress = STRANGER): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => {});
  await once(socket, 'connect');
  socket.write(hello);
  return socket;
}

describe('visitors', () => {
  let edge: Edge;
  beforeAll(async () => {
    edge = await startEdge({ now: () => 0, settings: { headTimeout: 60_000 } });
    edge.serve(NAME, 1);
  });
  afterAll(() => edge.close());

  test('those of a stranger beyond the budget of his address wait, and no others with them', async () => {
    const sockets = await Promise.all(Array.from({ length: 300 }, () => replay(edge.port)));
    const held = () => edge.listener.handshakeCounts.delayed + edge.listener.handshakeCounts.refused;
    await expect.poll(held).toBe(275);
    (await edge.visit(NAME)).destroy();
    expect(held()).toBe(275);
    for (const socket of sockets) socket.destroy();
    await edge.empty();
  });
});

describe('the turns of handshakes', () => {
  /** A connection from an address. */
  const from = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), {
      ...{ remoteAddress, remotePort: 1, isClosed: false, resetAndDestroy: () => socket.destroy() },
      destroy() {
        socket.isClosed = true;
        socket.emit('close');
      },
    });
    return socket;
  };
  type Fake = ReturnType<typeof from>;
  const lab = () => {
    const clock = { at: 0 };
    const turns = new HandshakeTurns({ now: () => clock.at, proxies: networksOf(['10.0.0.0/8']) });
    const begun: Fake[] = [];
    /** Each handshake takes a millisecond. */
    const take = (ip: string) => {
      const socket = from(ip);
      turns.take(socket as never, () => {
        clock.at++;
        begun.push(socket);
      });
      return socket;
    };
    const many = (count: number, ip: string) => Array.from({ length: count }, () => take(ip));
    const ofAddress = (prefix: string) => begun.filter(({ remoteAddress }) => remoteAddress.startsWith(prefix)).length;
    return { clock, turns, begun, take, many, ofAddress };
  };

  test('25 of one address begin at once, some wait, and the rest are closed', () => {
    const { turns, many, begun } = lab();
    const sockets = many(450, '192.0.2.1');
    expect(begun.length).toBe(25);
    expect(turns.counts).toEqual({ delayed: 384, refused: 41 });
    expect(sockets.filter(({ isClosed }) => isClosed).length).toBe(41);
    many(1, '198.51.100.1');
    expect(begun.length).toBe(26);
    for (const socket of sockets) socket.destroy();
  });

  test('a /64 is one address, and a trusted proxy none', () => {
    const { many, ofAddress } = lab();
    for (let host = 1; host <= 150; host++) many(1, `2001:db8::${host.toString(16)}`);
    expect(ofAddress('2001:db8')).toBe(25);
    many(300, '10.1.2.3');
    expect(ofAddress('10.')).toBe(300);
  });

  test('those that wait have a quarter of the time while others come, all of it while none do, and go by turns', async () => {
    const { clock, many, ofAddress } = lab();
    many(200, '192.0.2.1');
    many(200, '192.0.2.2');
    const before = [ofAddress('192.0.2.1'), ofAddress('192.0.2.2')] as const;
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    // In forty milliseconds of handshakes and pauses there are ten of them: five each.
    const until = clock.at + 40;
    while (clock.at < until) {
      const at = clock.at;
      for (let i = 0; i < 3; i++) await turn();
      if (clock.at === at) clock.at++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const paced = [ofAddress('192.0.2.1') - before[0], ofAddress('192.0.2.2') - before[1]];
    expect(paced[0]).toBeGreaterThanOrEqual(4);
    expect(paced[0]).toBeLessThanOrEqual(6);
    expect(Math.abs((paced[0] ?? 0) - (paced[1] ?? 0))).toBeLessThanOrEqual(1);
  });

  test('a connection that is closed gives up its turn, and no more than 256 of one address are under way', async () => {
    const { clock, many, turns, ofAddress } = lab();
    const [kept, left] = [many(150, '192.0.2.1'), many(10, '192.0.2.1')];
    for (const socket of left) socket.destroy();
    clock.at += 60_000; // Nobody else has come for long.
    await eventually(() => expect(ofAddress('192.0.2.1')).toBe(150));
    clock.at += 60_000;
    many(150, '192.0.2.1');
    clock.at += 60_000;
    await eventually(() => expect(ofAddress('192.0.2.1')).toBe(256));
    for (const socket of kept.slice(0, 20)) turns.end(socket as never);
    await eventually(() => expect(ofAddress('192.0.2.1')).toBe(276));
  });
});

test('agents: handshakes of one address that come to nothing have a budget, and hold up no other address', async () => {
  const clock = { at: 0 };
  const begun = new Map<string, number>();
  const connections = new AgentConnections({
    max: 5000,
    now: () => clock.at,
    startTls(socket) {
      clock.at += 0.001;
      const ip = socket.remoteAddress ?? '';
      begun.set(ip, (begun.get(ip) ?? 0) + 1);
      socket.destroy();
    },
    onRefused() {},
  });
  const server = createServer((socket) => connections.admit(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let round = 0; round < 6; round++) await Promise.all(Array.from({ length: 100 }, () => replay(port)));
  await eventually(() => expect(begun.get(STRANGER)).toBeGreaterThanOrEqual(512));
  const honest = await replay(port, '127.0.0.3');
  await once(honest, 'close');
  // The first one beyond the budget was measured; the next has to wait, by a clock that does not go on.
  expect(begun.get(STRANGER)).toBe(513);
  expect(begun.get('127.0.0.3')).toBe(1);
  clock.at += 10_000;
  await eventually(() => expect(begun.get(STRANGER)).toBeGreaterThan(560));
  server.close();
  connections.close();
});

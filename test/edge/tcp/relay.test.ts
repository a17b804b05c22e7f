import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { ErrorCode, type MuxSession, noopStreamEvents } from '../../../src/protocol/index.ts';
import { type ByteCounters, type RelayHooks, relay } from '../../../src/protocol/relay.ts';
import { connection, type End, end } from '../../protocol/pair.ts';

interface Path {
  visitor: Socket;
  upstream: Socket;
  gateway: MuxSession;
  agent: End;
  /** What the relays at both ends were told. */
  atGateway: { traffic: ByteCounters; closed: Promise<boolean> };
  atAgent: { traffic: ByteCounters; closed: Promise<boolean> };
}

const open: { destroy(): void }[] = [];
afterEach(() => {
  for (const thing of open.splice(0)) thing.destroy();
});

function hooks(): { hooks: RelayHooks; traffic: ByteCounters; closed: Promise<boolean> } {
  const traffic = { fromSocket: 0, toSocket: 0 };
  let onClose: (wasCut: boolean) => void = () => {};
  const closed = new Promise<boolean>((resolve) => {
    onClose = resolve;
  });
  return { hooks: { counters: traffic, onClose }, traffic, closed };
}

/** visitor ─ TCP ─ relay ─ session ─ relay ─ TCP ─ upstream */
async function path(): Promise<Path> {
  const [visitor, doorstep] = await connection();
  const [local, upstream] = await connection();
  const [near, far] = await connection();
  const agent = end(near, 'client');
  const gateway = end(far, 'server');
  for (const socket of [visitor, upstream]) {
    socket.allowHalfOpen = true;
    socket.on('error', () => {});
  }
  open.push(visitor, doorstep, local, upstream, near, far);
  const atGateway = hooks();
  const atAgent = hooks();
  agent.accept((stream) => {
    relay(stream, local, atAgent.hooks);
    return stream.events;
  });
  const stream = gateway.session.open(noopStreamEvents);
  relay(stream, doorstep, atGateway.hooks);
  // The stream is known to the agent from its first bytes on.
  visitor.write('hello');
  expect(String(await read(upstream, 5))).toBe('hello');
  return { visitor, upstream, gateway: gateway.session, agent, atGateway, atAgent };
}

async function read(socket: Socket, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let missing = bytes;
  while (missing > 0) {
    const chunk = socket.read(Math.min(missing, socket.readableLength)) as Buffer | null;
    if (chunk === null) {
      if (socket.readableEnded || socket.destroyed) throw new Error(`ended with ${missing} bytes missing`);
      await once(socket, 'readable'); // Also at its end.
      continue;
    }
    chunks.push(chunk);
    missing -= chunk.length;
  }
  return Buffer.concat(chunks);
}

/** Of everything that comes; the other direction is not touched, as `for await` would. */
async function digest(socket: Socket): Promise<string> {
  const hash = createHash('md5');
  socket.on('data', (chunk: Buffer) => hash.update(chunk));
  await once(socket, 'end');
  return hash.digest('hex');
}
const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

test('4 MB each way at the same time arrive as they were sent', async () => {
  const { visitor, upstream, atGateway, atAgent } = await path();
  const up = randomBytes(4 * 1024 * 1024);
  const down = randomBytes(4 * 1024 * 1024);
  const sums = Promise.all([digest(visitor), digest(upstream)]);
  visitor.end(up);
  upstream.end(down);
  expect(await sums).toEqual([md5(down), md5(up)]);
  expect(await Promise.all([atGateway.closed, atAgent.closed])).toEqual([false, false]);
  expect(atGateway.traffic).toEqual({ fromSocket: 5 + up.length, toSocket: down.length });
  expect(atAgent.traffic).toEqual({ fromSocket: down.length, toSocket: 5 + up.length });
});

describe('half-close', () => {
  test.each(['visitor', 'upstream'] as const)('after the %s has ended, the other direction goes on', async (first) => {
    const { visitor, upstream, atGateway, gateway } = await path();
    const [early, late] = first === 'visitor' ? [visitor, upstream] : [upstream, visitor];
    early.end('that is all');
    expect(String(await read(late, 11))).toBe('that is all');
    late.resume();
    await once(late, 'end');
    late.write('but I go on');
    expect(String(await read(early, 11))).toBe('but I go on');
    late.end();
    early.resume();
    await once(early, 'end');
    expect(await atGateway.closed).toBe(false);
    expect(gateway.size).toBe(0);
  });
});

describe('a break', () => {
  test.each(['visitor', 'upstream'] as const)('a RST of the %s is a RST for the other', async (breaking) => {
    const { visitor, upstream, atGateway, atAgent, gateway, agent } = await path();
    const [one, other] = breaking === 'visitor' ? [visitor, upstream] : [upstream, visitor];
    const error = once(other, 'error');
    other.resume();
    other.off('error', () => {});
    one.resetAndDestroy();
    expect((await error)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect(await Promise.all([atGateway.closed, atAgent.closed])).toEqual([true, true]);
    expect([gateway.size, agent.session.size]).toEqual([0, 0]);
  });

  test('the end of the session is a RST for both', async () => {
    const { visitor, upstream, gateway } = await path();
    const errors = Promise.all([once(visitor, 'error'), once(upstream, 'error')]);
    visitor.resume();
    upstream.resume();
    gateway.destroy(ErrorCode.INTERNAL, 'test');
    expect((await errors).map(([error]) => error.code)).toEqual(['ECONNRESET', 'ECONNRESET']);
  });

  test('a socket that was closed before it began resets the stream', async () => {
    const [near, far] = await connection();
    const [visitor, doorstep] = await connection();
    const agent = end(near, 'client');
    const gateway = end(far, 'server');
    open.push(near, far, visitor, doorstep);
    doorstep.destroy();
    await once(doorstep, 'close');
    const reset = new Promise((resolve) => agent.accept(() => ({ ...noopStreamEvents, onReset: resolve })));
    const stream = gateway.session.open(noopStreamEvents);
    stream.write(Buffer.from('hello'));
    const { hooks: told, closed } = hooks();
    relay(stream, doorstep, told);
    expect(await closed).toBe(true);
    expect(await reset).toBe(ErrorCode.CANCELLED);
  });

  test('a connection that is refused resets the stream as refused; what was sent before it stood arrives', async () => {
    const [near, far] = await connection();
    open.push(near, far);
    const agent = end(near, 'client');
    const gateway = end(far, 'server');
    const server = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    agent.accept((stream) => {
      relay(stream, connect(port, '127.0.0.1'));
      return stream.events;
    });
    const answer = new Promise((resolve) => {
      const stream = gateway.session.open({ ...noopStreamEvents, onData: (chunk) => resolve(String(chunk)) });
      stream.write(Buffer.from('early'));
      stream.end();
    });
    expect(await answer).toBe('early');
    server.close();
    await once(server, 'close');
    const reset = new Promise((resolve) => {
      gateway.session.open({ ...noopStreamEvents, onReset: resolve }).write(Buffer.from('hello'));
    });
    expect(await reset).toBe(ErrorCode.REFUSED);
  });
});

describe('backpressure', () => {
  test.each(['visitor', 'upstream'] as const)(
    'a %s that does not read holds up its writer, and nothing piles up',
    async (lazy) => {
      const { visitor, upstream, gateway, agent, atGateway, atAgent } = await path();
      const writer = lazy === 'visitor' ? upstream : visitor;
      const [in_, out] = lazy === 'visitor' ? [atAgent, atGateway] : [atGateway, atAgent];
      const block = Buffer.alloc(1024 * 1024, 7);
      let written = 0;
      const total = 32;
      // Ends when all is written; stops when nobody takes it any more.
      const done = (async () => {
        while (written < total) {
          if (!writer.write(block)) await once(writer, 'drain');
          written++;
        }
        writer.end();
      })();
      // A neighbour's round trips tell when everything that can move has moved.
      let before = -1;
      while (before !== in_.traffic.fromSocket) {
        before = in_.traffic.fromSocket;
        for (let i = 0; i < 20; i++) await roundTrip(gateway, agent);
      }
      expect(written).toBeLessThan(total);
      // What is between the two relays: a window, and what each of them holds.
      expect(in_.traffic.fromSocket - out.traffic.toSocket).toBeLessThan(512 * 1024);
      const reader = lazy === 'visitor' ? visitor : upstream;
      const received = (await read(reader, total * block.length)).length;
      await done;
      expect(received).toBe(total * block.length);
    },
  );
});

/** There and back on another stream of the session. */
function roundTrip(from: MuxSession, to: End): Promise<void> {
  to.accept((stream) => ({
    ...noopStreamEvents,
    onData(chunk) {
      stream.write(chunk);
      stream.end();
    },
  }));
  return new Promise((resolve) => {
    const stream = from.open({ ...noopStreamEvents, onEnd: resolve });
    stream.write(Buffer.from('x'));
    stream.end();
  });
}

// Which ids a peer may open streams with: each one of its parity once, in any order.

import type { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ErrorCode, Flag, FrameType, MuxSession, noopStreamEvents, writeHeader } from '../../src/protocol/index.ts';
import { isLong } from '../support/shortened.ts';
import { pair } from './pair.ts';
import { Wire } from './wire.ts';

/** How many ids behind the highest one a session remembers. */
const REMEMBERED = 4096;
/** A program takes ids on several threads, which may be this far apart; a session accepts 2048 streams at once. */
const AT_ONCE = 300;

type Role = 'client' | 'server';
/** The nth id that the peer of a side may open, from 0. */
const idOf = (role: Role, n: number) => (role === 'server' ? 2 * n + 1 : 2 * n + 2);

function side(role: Role, limitsOpens = false) {
  const wire = new Wire();
  const opened: number[] = [];
  let ended: { code: ErrorCode; message: string } | undefined;
  const session = new MuxSession(
    wire as unknown as Socket,
    {
      onStream: (stream) => {
        opened.push(stream.id);
        stream.events = noopStreamEvents;
      },
      onClose: (code, message) => {
        ended = { code, message };
      },
    },
    { role, peerStreamsMax: 10_000, limitsOpens },
  );
  const frame = (type: number, flags: number, id: number, body: Buffer) => {
    const bytes = Buffer.alloc(8 + body.length);
    writeHeader(bytes, 0, (type << 4) | flags, body.length, id);
    body.copy(bytes, 8);
    wire.emit('data', bytes);
  };
  return {
    session,
    opened,
    wire,
    get ended() {
      return ended;
    },
    open: (id: number) => frame(FrameType.DATA, Flag.SYN, id, Buffer.from('x')),
    data: (id: number) => frame(FrameType.DATA, 0, id, Buffer.from('x')),
    reset: (id: number) => frame(FrameType.RESET, 0, id, Buffer.from([0, 0, 0, 6])),
  };
}

const violation = (id: number) => ({
  code: ErrorCode.PROTOCOL,
  message: `stream ${id} is not the peer's to open, or was opened before`,
});

describe.each<Role>(['server', 'client'])('at a %s', (role) => {
  const id = (n: number) => idOf(role, n);

  test('streams are accepted in whatever order their ids come', () => {
    const order = fc.tuple(fc.integer({ min: 1, max: AT_ONCE }), fc.nat(100_000)).chain(([count, first]) =>
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, n) => first + n),
        { minLength: 1 },
      ),
    );
    fc.assert(
      fc.property(order, fc.nat(), (numbers, again) => {
        const peer = side(role);
        for (const n of numbers) peer.open(id(n));
        expect(peer.ended).toBeUndefined();
        expect(peer.opened).toEqual(numbers.map(id));
        // Each of them once, open or closed.
        const used = id(numbers[again % numbers.length] as number);
        if (again % 2 === 0) peer.reset(used);
        peer.open(used);
        expect(peer.ended).toEqual(violation(used));
      }),
      { numRuns: isLong ? 3000 : 60 },
    );
  });

  test('over a connection, 500 streams whose first frames come in another order than their ids all arrive', async () => {
    const ends = await pair();
    const [near, far] = role === 'server' ? [ends.client, ends.server] : [ends.server, ends.client];
    const got = new Map<number, string>();
    const all = new Promise<void>((resolve) => {
      far.accept((stream) => ({
        ...noopStreamEvents,
        onData: (chunk) => {
          got.set(stream.id, String(chunk));
          if (got.size === 500) resolve();
        },
      }));
    });
    const streams = Array.from({ length: 500 }, () => near.session.open(noopStreamEvents));
    const [order = []] = fc.sample(fc.shuffledSubarray(streams, { minLength: 500 }), 1);
    for (const stream of order) stream.write(Buffer.from(`stream ${stream.id}`));
    await Promise.race([all, far.closed]);
    expect([...got.keys()]).toEqual(order.map((stream) => stream.id));
    expect([...got].filter(([n, text]) => text !== `stream ${n}`)).toEqual([]);
    near.session.close();
  });

  test('an id that was taken first and comes last is accepted while it is remembered, and not after', () => {
    const [late, tooLate] = [side(role), side(role)];
    for (const peer of [late, tooLate]) peer.open(id(1));
    late.open(id(REMEMBERED - 1));
    late.open(id(0));
    expect(late.ended).toBeUndefined();
    expect(late.opened).toEqual([id(1), id(REMEMBERED - 1), id(0)]);
    tooLate.open(id(REMEMBERED));
    tooLate.open(id(0));
    expect(tooLate.ended).toEqual(violation(id(0)));
  });

  test('an id that was used is refused for ever, however many come after it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 20 }), (steps) => {
        const peer = side(role);
        const used: number[] = [];
        let n = 0;
        for (const step of steps) {
          peer.open(id(n));
          used.push(id(n));
          n += step;
        }
        expect(peer.ended).toBeUndefined();
        const again = used[steps.length >> 1] as number;
        peer.reset(again);
        peer.open(again);
        expect(peer.ended).toEqual(violation(again));
      }),
      { numRuns: isLong ? 2000 : 40 },
    );
  });

  test('ids of the other side are refused', () => {
    const peer = side(role);
    const own = role === 'server' ? 2 : 1;
    peer.open(own);
    expect(peer.ended).toEqual(violation(own));
  });

  test('data of a stream that was closed is dropped, of one that never was is answered with a reset', async () => {
    const peer = side(role);
    peer.open(id(5));
    peer.reset(id(5));
    for (const n of [5, 3]) peer.data(id(n));
    await new Promise(setImmediate);
    const answer = Buffer.alloc(12);
    writeHeader(answer, 0, FrameType.RESET << 4, 4, id(3));
    answer.writeUInt32BE(ErrorCode.STREAM_CLOSED, 8);
    expect(Buffer.concat(peer.wire.written)).toEqual(answer);
    peer.open(id(3));
    expect(peer.ended).toBeUndefined();
  });
});

test('a peer that leaves out many ids with each stream is limited as any other, and accepted', () => {
  const peer = side('server', true);
  for (let n = 0; n < 2000; n++) peer.open(idOf('server', n * (REMEMBERED - 1)));
  expect(peer.ended).toBeUndefined();
  expect(peer.session.size).toBe(2000);
});

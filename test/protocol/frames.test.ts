// The frames of the wire: those that keep its rules, and those that break them.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ErrorCode,
  Flag,
  FrameType,
  INITIAL_WINDOW,
  MuxFrameReader,
  noopStreamEvents,
  writeHeader,
} from '../../src/protocol/index.ts';
import { connection, end } from './pair.ts';

function frame(type: number, flags: number, id: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(8 + body.length);
  writeHeader(bytes, 0, (type << 4) | flags, body.length, id);
  body.copy(bytes, 8);
  return bytes;
}
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

describe('frames', () => {
  const someFrame = fc.oneof(
    fc.record({
      type: fc.constant(FrameType.DATA),
      flags: fc.nat(3),
      id: fc.integer({ min: 1, max: 0x7fffffff }),
      body: fc.uint8Array({ maxLength: 40 }),
    }),
    fc.record({
      type: fc.constantFrom(FrameType.RESET, FrameType.WINDOW),
      flags: fc.constant(0),
      id: fc.integer({ min: 1, max: 0x7fffffff }),
      body: fc.uint8Array({ minLength: 4, maxLength: 4 }),
    }),
    fc.record({
      type: fc.constant(FrameType.GO_AWAY),
      flags: fc.constant(0),
      id: fc.constant(0),
      body: fc.uint8Array({ minLength: 8, maxLength: 30 }),
    }),
  );

  test('frames cut anywhere are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(someFrame, { maxLength: 8 }), fc.array(fc.nat(30), { maxLength: 40 }), (frames, cuts) => {
        const wire = Buffer.concat(
          frames.map(({ type, flags, id, body }) => frame(type, flags, id, Buffer.from(body))),
        );
        const expected = frames.flatMap(({ type, flags, id, body }) => {
          const bytes = Buffer.from(body);
          if (type === FrameType.RESET) return `reset ${id} ${bytes.readUInt32BE(0)}`;
          if (type === FrameType.WINDOW) return `window ${id} ${bytes.readUInt32BE(0) & 0x7fffffff}`;
          if (type === FrameType.GO_AWAY) return `away ${bytes.readUInt32BE(4)} ${bytes.toString('utf8', 8)}`;
          const opens = flags & Flag.SYN ? [`open ${id}`] : [];
          return [...opens, ...[...bytes].map((byte) => `${id} ${byte}`), ...(flags & Flag.FIN ? [`end ${id}`] : [])];
        });
        expect(events(wire, cuts)).toEqual(expected);
      }),
    );
  });

  test('no bytes make the reader do anything but read or refuse', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          events(Buffer.from(bytes), []);
        } catch (error) {
          expect((error as Error).name).toBe('Error');
          expect((error as { code?: number }).code).toBeGreaterThan(0);
        }
      }),
      { numRuns: 2000 },
    );
  });

  /** What a reader tells, data byte by byte, so that it does not matter in which pieces it came. */
  function events(wire: Buffer, cuts: number[]): string[] {
    const told: string[] = [];
    const reader = new MuxFrameReader({
      onData(id, piece, opens, ends) {
        if (opens) told.push(`open ${id}`);
        for (const byte of piece) told.push(`${id} ${byte}`);
        if (ends) told.push(`end ${id}`);
      },
      onReset: (id, code) => told.push(`reset ${id} ${code}`),
      onWindow: (id, increment) => told.push(`window ${id} ${increment}`),
      onGoAway: (code, message) => told.push(`away ${code} ${message}`),
    });
    let at = 0;
    for (const cut of cuts) {
      reader.push(wire.subarray(at, at + cut));
      at = Math.min(wire.length, at + cut);
    }
    reader.push(wire.subarray(at));
    return told;
  }
});

test('what a stream is given in a turn is one frame, with its end, and none is larger than 64 KiB', async () => {
  const [near, far] = await connection();
  const { session } = end(near, 'client');
  const one = session.open(noopStreamEvents);
  const other = session.open(noopStreamEvents);
  const large = Buffer.alloc(40 * 1024, 'l');
  for (const piece of ['a', 'b', 'c']) one.write(Buffer.from(piece));
  other.write(Buffer.from('x'));
  one.write(Buffer.from('d'));
  one.write(large);
  one.write(large);
  one.end();
  other.reset(ErrorCode.CANCELLED);
  const expected = Buffer.concat([
    frame(FrameType.DATA, Flag.SYN, 1, Buffer.from('abc')),
    frame(FrameType.DATA, Flag.SYN, 3, Buffer.from('x')),
    frame(FrameType.DATA, 0, 1, Buffer.concat([Buffer.from('d'), large])),
    frame(FrameType.DATA, Flag.FIN, 1, large),
    frame(FrameType.RESET, 0, 3, uint32(ErrorCode.CANCELLED)),
  ]);
  let received = Buffer.alloc(0);
  for await (const chunk of far) {
    received = Buffer.concat([received, chunk]);
    if (received.length >= expected.length) break;
  }
  expect(received.equals(expected)).toBe(true);
  near.destroy();
});

describe('what breaks the rules', () => {
  test.each([
    ['an unknown type', frame(9, 0, 1), ErrorCode.PROTOCOL],
    ['data without a stream', frame(FrameType.DATA, 0, 0), ErrorCode.PROTOCOL],
    ['a reset of 3 bytes', frame(FrameType.RESET, 0, 1, Buffer.alloc(3)), ErrorCode.FRAME_SIZE],
    ['credit of 5 bytes', frame(FrameType.WINDOW, 0, 1, Buffer.alloc(5)), ErrorCode.FRAME_SIZE],
    ['a farewell of one stream', frame(FrameType.GO_AWAY, 0, 1, Buffer.alloc(8)), ErrorCode.PROTOCOL],
    ['a farewell of 7 bytes', frame(FrameType.GO_AWAY, 0, 0, Buffer.alloc(7)), ErrorCode.FRAME_SIZE],
    ['an endless farewell', frame(FrameType.GO_AWAY, 0, 0, Buffer.alloc(70_000)), ErrorCode.FRAME_SIZE],
    ['a stream with our parity', frame(FrameType.DATA, Flag.SYN, 2), ErrorCode.PROTOCOL],
    [
      'a stream twice',
      Buffer.concat([frame(FrameType.DATA, Flag.SYN, 5), frame(FrameType.DATA, Flag.SYN, 5)]),
      ErrorCode.PROTOCOL,
    ],
    [
      'a stream whose id is thousands behind the last one',
      Buffer.concat([frame(FrameType.DATA, Flag.SYN, 8195), frame(FrameType.DATA, Flag.SYN, 3)]),
      ErrorCode.PROTOCOL,
    ],
  ])('%s ends the session, and the peer is told why', async (_, bytes, code) => {
    const [near, far] = await connection();
    const server = end(far, 'server');
    const told = farewell(near);
    near.write(bytes);
    expect((await server.closed).code).toBe(code);
    expect(await told).toBe(code);
  });

  test('more than the window is refused for that stream alone', async () => {
    const [near, far] = await connection();
    const server = end(far, 'server');
    const reset = new Promise((resolve) => {
      server.accept(() => ({ ...noopStreamEvents, onReset: resolve }));
    });
    near.write(frame(FrameType.DATA, Flag.SYN, 1, Buffer.alloc(INITIAL_WINDOW + 1)));
    expect(await reset).toBe(ErrorCode.FLOW_CONTROL);
    expect(server.session.isClosed).toBe(false);
    near.destroy();
  });

  test('data for a stream that never was is answered with a reset; for one that is over, with nothing', async () => {
    const [near, far] = await connection();
    const server = end(far, 'server');
    server.accept((stream) => ({ ...noopStreamEvents, onData: () => stream.reset() }));
    const resets: number[] = [];
    const second = new Promise<void>((resolve) => {
      const reader = new MuxFrameReader({
        onData() {},
        onReset: (id) => {
          if (resets.push(id) === 2) resolve();
        },
        onWindow() {},
        onGoAway() {},
      });
      near.on('data', (chunk) => reader.push(chunk));
    });
    near.write(frame(FrameType.DATA, Flag.SYN, 1, Buffer.from('a')));
    near.write(frame(FrameType.DATA, 0, 1, Buffer.from('b')));
    near.write(frame(FrameType.DATA, 0, 99, Buffer.from('c')));
    await second;
    expect(resets).toEqual([1, 99]);
    near.destroy();
  });

  test('credit beyond 2^31 resets the stream', async () => {
    const [near, far] = await connection();
    const server = end(far, 'server');
    const reset = new Promise((resolve) => {
      server.accept(() => ({ ...noopStreamEvents, onReset: resolve }));
    });
    near.write(Buffer.concat([frame(FrameType.DATA, Flag.SYN, 1), frame(FrameType.WINDOW, 0, 1, uint32(0x7fffffff))]));
    expect(await reset).toBe(ErrorCode.FLOW_CONTROL);
    near.destroy();
  });

  test('garbage in any pieces never gets past the session', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 6 }), async (pieces) => {
        const [near, far] = await connection();
        const server = end(far, 'server');
        server.accept(() => noopStreamEvents);
        for (const piece of pieces) near.write(Buffer.from(piece));
        near.end();
        near.resume();
        await server.closed;
        near.destroy();
      }),
      { numRuns: 100 },
    );
  });

  async function farewell(near: NodeJS.ReadableStream): Promise<number> {
    return new Promise((resolve) => {
      const reader = new MuxFrameReader({ onData() {}, onReset() {}, onWindow() {}, onGoAway: resolve });
      near.on('data', (chunk: Buffer) => reader.push(chunk));
    });
  }
});

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  answer,
  answerHeartbeat,
  call,
  DEAF,
  ErrorCode,
  Flag,
  FrameReader,
  FrameType,
  INITIAL_WINDOW,
  type MuxStream,
  readType,
  StreamType,
  startHeartbeat,
  writeHeader,
} from '../../src/protocol/index.ts';
import { collect, connection, end, pair, send } from './pair.ts';

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
    const reader = new FrameReader({
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

describe('streams', () => {
  test('bytes arrive as they were sent, many streams at once, both ways', async () => {
    const { client, server } = await pair();
    const echoed: Promise<Buffer>[] = [];
    server.accept((stream) => ({
      ...DEAF,
      onData(chunk) {
        stream.write(Buffer.from(chunk));
        stream.consumed(chunk.length);
      },
      onEnd: () => stream.end(),
    }));
    const sent = Array.from({ length: 50 }, (_, i) => randomBytes(i * 20_000));
    for (const bytes of sent) {
      const stream = client.session.open(DEAF);
      const { events, all } = collect(stream);
      stream.events = events;
      echoed.push(all);
      send(stream, bytes, 10_000);
    }
    const back = await Promise.all(echoed);
    back.forEach((bytes, i) => {
      expect(bytes.equals(sent[i] as Buffer)).toBe(true);
    });
    expect(client.session.size).toBe(0);
    expect(server.session.size).toBe(0);
    client.session.close();
  });

  test('a reader that stops holds up its own writer at the window, and nobody else', async () => {
    const { client, server } = await pair();
    let taken = 0;
    let release = () => {};
    const stalledIsFull = new Promise<void>((resolve) => {
      server.accept((stream) =>
        stream.id === 1
          ? {
              ...DEAF,
              onData(chunk) {
                taken += chunk.length;
                if (taken === INITIAL_WINDOW) resolve();
              },
              onEnd: () => {},
            }
          : collectInto(stream),
      );
    });
    const results: Promise<Buffer>[] = [];
    const collectInto = (stream: MuxStream) => {
      const { events, all } = collect(stream);
      results.push(all);
      release();
      return events;
    };
    const stalled = client.session.open(DEAF);
    send(stalled, Buffer.alloc(2_000_000));
    await stalledIsFull;
    const opened = new Promise<void>((resolve) => {
      release = resolve;
    });
    const other = client.session.open(DEAF);
    send(other, Buffer.alloc(3_000_000, 1));
    await opened;
    expect((await results[0])?.length).toBe(3_000_000);
    expect(taken).toBe(INITIAL_WINDOW);
    client.session.close();
  });

  test('a stream that is reset says so to the other side, and its window is free again', async () => {
    const { client, server } = await pair();
    const reset = new Promise<number>((resolve) => {
      server.accept(() => ({ ...DEAF, onReset: resolve }));
    });
    const stream = client.session.open(DEAF);
    stream.write(Buffer.from('x'));
    stream.reset(ErrorCode.REFUSED);
    expect(await reset).toBe(ErrorCode.REFUSED);
    expect([client.session.size, server.session.size]).toEqual([0, 0]);
    client.session.close();
  });

  test('when the session ends, every stream hears of it once', async () => {
    const { client, server } = await pair();
    const heard: string[] = [];
    for (const name of ['a', 'b'])
      client.session.open({ ...DEAF, onReset: (code) => heard.push(`${name} ${code}`) }).write(Buffer.from(name));
    server.session.close(ErrorCode.NONE, 'good-bye');
    expect(await client.closed).toEqual({ code: ErrorCode.NONE, message: 'good-bye' });
    expect(heard).toEqual([`a ${ErrorCode.SESSION_CLOSED}`, `b ${ErrorCode.SESSION_CLOSED}`]);
    expect(() => client.session.open(DEAF)).toThrow('over');
  });

  test('more streams than agreed are refused, each by itself', async () => {
    const [near, far] = await connection();
    const client = end(near, 'client');
    const server = end(far, 'server', 2);
    server.accept(() => DEAF);
    const codes = await Promise.all(
      [1, 2, 3].map(
        (n) =>
          new Promise<string>((resolve) => {
            const stream = client.session.open({ ...DEAF, onReset: (code) => resolve(`${n} refused ${code}`) });
            stream.write(Buffer.from('x'));
            if (n < 3) resolve(`${n} open`);
          }),
      ),
    );
    expect(codes).toEqual(['1 open', '2 open', `3 refused ${ErrorCode.ACCEPT_QUEUE_FULL}`]);
    client.session.close();
  });
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
      'a stream before one that is there',
      Buffer.concat([frame(FrameType.DATA, Flag.SYN, 5), frame(FrameType.DATA, Flag.SYN, 3)]),
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
      server.accept(() => ({ ...DEAF, onReset: resolve }));
    });
    near.write(frame(FrameType.DATA, Flag.SYN, 1, Buffer.alloc(INITIAL_WINDOW + 1)));
    expect(await reset).toBe(ErrorCode.FLOW_CONTROL);
    expect(server.session.isClosed).toBe(false);
    near.destroy();
  });

  test('data for a stream that never was is answered with a reset; for one that is over, with nothing', async () => {
    const [near, far] = await connection();
    const server = end(far, 'server');
    server.accept((stream) => ({ ...DEAF, onData: () => stream.reset() }));
    const resets: number[] = [];
    const second = new Promise<void>((resolve) => {
      const reader = new FrameReader({
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
      server.accept(() => ({ ...DEAF, onReset: resolve }));
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
        server.accept(() => DEAF);
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
      const reader = new FrameReader({ onData() {}, onReset() {}, onWindow() {}, onGoAway: resolve });
      near.on('data', (chunk: Buffer) => reader.push(chunk));
    });
  }
});

describe('calls', () => {
  test('a call is answered although the caller never ends its side first', async () => {
    const { client, server } = await pair();
    server.accept((stream) => {
      readType(stream, (type, rest) => answer(stream, rest, async (request) => ({ type, request }), String));
      return stream.events;
    });
    const request = { text: 'br{ace "quoted\\" ü', list: [1, { a: [] }] };
    expect(await call(client.session, StreamType.BIND, request, 1000)).toEqual({ type: StreamType.BIND, request });
    expect(client.session.size).toBe(0);
    client.session.close();
  });

  test.each([
    ['not JSON', '{"a":}'],
    ['not an object', '[1]'],
    ['too long', `{"a":"${'x'.repeat(1_100_000)}"}`],
  ])('what is %s is answered with an error', async (_, text) => {
    const { client, server } = await pair();
    server.accept((stream) => {
      readType(stream, (_type, rest) =>
        answer(
          stream,
          rest,
          async () => ({}),
          (why) => `told: ${why}`,
        ),
      );
      return stream.events;
    });
    const stream = client.session.open(DEAF);
    const { events, all } = collect(stream);
    stream.events = events;
    stream.write(Buffer.concat([uint32(1), Buffer.from(text)]));
    expect(JSON.parse((await all).toString()).Error).toMatch(/^told: a message must be/);
    client.session.close();
  });

  test('a call that is not answered fails in its time', async () => {
    const { client } = await pair();
    await expect(call(client.session, StreamType.STOP, {}, 20)).rejects.toThrow('within 20 ms');
    expect(client.session.size).toBe(0);
    client.session.close();
  });
});

describe('heartbeats', () => {
  test('go round at intervals and measure the way', async () => {
    const { client, server } = await pair();
    server.accept((stream) => {
      readType(stream, (_, rest) => answerHeartbeat(stream, rest));
      return stream.events;
    });
    const trips: number[] = [];
    await new Promise<void>((resolve) => {
      startHeartbeat(client.session, {
        interval: 1,
        tolerance: 2000,
        onBeat: (trip) => {
          if (trips.push(trip) === 5) resolve();
        },
      });
    });
    expect(client.session.budget.roundTrip).toBe(Math.min(...trips));
    client.session.close();
  });

  test('a peer that is silent is given up', async () => {
    const { client, server } = await pair();
    server.accept(() => DEAF);
    startHeartbeat(client.session, { interval: 10, tolerance: 30 });
    expect((await client.closed).message).toContain('no sign of life');
  });

  test('a peer that breaks the stream of heartbeats is given up', async () => {
    const { client, server } = await pair();
    server.accept((stream) => {
      setImmediate(() => stream.reset());
      return DEAF;
    });
    startHeartbeat(client.session, { interval: 10, tolerance: 2000 });
    expect((await client.closed).message).toContain('was reset');
  });

  test('a peer that answers something else is given up', async () => {
    const { client, server } = await pair();
    server.accept((stream) => ({ ...DEAF, onData: () => stream.write(Buffer.from('nope')) }));
    startHeartbeat(client.session, { interval: 10, tolerance: 2000 });
    expect((await client.closed).code).toBe(ErrorCode.PROTOCOL);
  });
});

test('a farewell to a peer that never reads does not keep the connection', async () => {
  const [near, far] = await connection();
  const server = end(far, 'server');
  near.pause();
  server.session.close();
  await once(far, 'close');
  near.destroy();
});

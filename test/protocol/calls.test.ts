// Calls, and signs of life.

import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  answerCall,
  answerHeartbeat,
  callPeer,
  ErrorCode,
  Flag,
  FrameType,
  MuxSession,
  noopStreamEvents,
  readStreamType,
  StreamType,
  startHeartbeat,
  writeHeader,
} from '../../src/protocol/index.ts';
import { collect, pair } from './pair.ts';
import { Wire } from './wire.ts';

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

describe('calls', () => {
  test('a call is answered although the caller never ends its side first', async () => {
    const { client, server } = await pair();
    server.accept((stream) => {
      readStreamType(stream, (type, rest) => answerCall(stream, rest, async (request) => ({ type, request }), String));
      return stream.events;
    });
    const request = { text: 'br{ace "quoted\\" ü', list: [1, { a: [] }] };
    expect(await callPeer(client.session, StreamType.BIND, request, 1000)).toEqual({ type: StreamType.BIND, request });
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
      readStreamType(stream, (_type, rest) =>
        answerCall(
          stream,
          rest,
          async () => ({}),
          (why) => `told: ${why}`,
        ),
      );
      return stream.events;
    });
    const stream = client.session.open(noopStreamEvents);
    const { events, all } = collect(stream);
    stream.events = events;
    stream.write(Buffer.concat([uint32(1), Buffer.from(text)]));
    expect(JSON.parse((await all).toString()).Error).toMatch(/^told: a message must be/);
    client.session.close();
  });

  test('a call that is not answered fails in its time', async () => {
    const { client } = await pair();
    await expect(callPeer(client.session, StreamType.STOP, {}, 20)).rejects.toThrow('within 20 ms');
    expect(client.session.size).toBe(0);
    client.session.close();
  });
});

const nextTurn = () => new Promise(setImmediate);
const HEADER_BYTES = 8;
const HOUR = 3_600_000;

describe('heartbeats', () => {
  test('go round at intervals and measure the way', async () => {
    const { client, server } = await pair();
    server.accept((stream) => {
      readStreamType(stream, (_, rest) => answerHeartbeat(stream, rest));
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
    expect(client.session.windowBudget.roundTrip).toBe(Math.min(...trips));
    client.session.close();
  });

  test('a peer that is asked for a sign of life between two heartbeats answers at once', async () => {
    const { client, server } = await pair();
    server.accept((stream) => {
      readStreamType(stream, (_, rest) => answerHeartbeat(stream, rest));
      return stream.events;
    });
    let onBeat = () => {};
    const first = new Promise<void>((resolve) => {
      onBeat = resolve;
    });
    const heartbeat = startHeartbeat(client.session, { interval: HOUR, tolerance: HOUR, onBeat: () => onBeat() });
    await first;
    expect(await heartbeat.isAnswered(HOUR)).toBe(true);
    client.session.close();
  });

  test('a peer that is silent is given up', async () => {
    const { client, server } = await pair();
    server.accept(() => noopStreamEvents);
    startHeartbeat(client.session, { interval: 10, tolerance: 30 });
    expect((await client.closed).message).toContain('no sign of life');
  });

  test('a peer whose answers came while the event loop was blocked is not given up', async () => {
    const { client, server } = await pair();
    const tolerance = 40;
    server.accept((stream) => {
      readStreamType(stream, (_, rest) => answerHeartbeat(stream, rest));
      const { onData } = stream.events;
      return {
        ...stream.events,
        onData(chunk) {
          // Both ends are in this process: when it goes on, the tolerance is over and the answer has not been read.
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3 * tolerance);
          onData(chunk);
        },
      };
    });
    let beats = 0;
    await new Promise<void>((resolve, reject) => {
      void client.closed.then(({ message }) => reject(new Error(message)));
      startHeartbeat(client.session, {
        interval: 1,
        tolerance,
        onBeat: () => {
          if (++beats === 3) resolve();
        },
      });
    });
    client.session.close();
  });

  test('a peer that breaks the stream of heartbeats is given up', async () => {
    const { client, server } = await pair();
    server.accept((stream) => {
      setImmediate(() => stream.reset());
      return noopStreamEvents;
    });
    startHeartbeat(client.session, { interval: 10, tolerance: 2000 });
    expect((await client.closed).message).toContain('was reset');
  });

  test('a peer that answers something else is given up', async () => {
    const { client, server } = await pair();
    server.accept((stream) => ({ ...noopStreamEvents, onData: () => stream.write(Buffer.from('nope')) }));
    startHeartbeat(client.session, { interval: 10, tolerance: 2000 });
    expect((await client.closed).code).toBe(ErrorCode.PROTOCOL);
  });

  test('go out although data waits for what they confirm, and the buffer was full when they were due', async () => {
    const wire = new Wire();
    const events = { onStream() {}, onClose() {} };
    const session = new MuxSession(wire as unknown as Socket, events, { role: 'client', peerStreamsMax: 10 });
    startHeartbeat(session, { interval: 10_000, tolerance: 15_000 });
    onTestFinished(() => session.destroy(ErrorCode.NONE, ''));
    const stream = session.open(noopStreamEvents);
    expect(stream.write(Buffer.alloc(100_000)), 'the window is used up').toBe(false);
    await nextTurn();
    wire.writableLength = 2 * 2 ** 20;
    session.onProbeDue?.();
    await nextTurn();
    const before = Buffer.concat(wire.written).length;
    wire.writableLength = 0;
    wire.emit('drain');
    await nextTurn();
    const beat = Buffer.concat(wire.written).subarray(before);
    expect([beat.length, beat.readUInt32BE(4)]).toEqual([HEADER_BYTES + 4, 1]);
  });

  describe.each([
    ['an agent', 'client', 2],
    ['a gateway', 'server', 1],
  ] as const)('of %s on a line that moves little', (_, role, peerId) => {
    const [INTERVAL, TOLERANCE] = [10_000, 15_000];
    const data = Buffer.alloc(9);
    writeHeader(data, 0, FrameType.DATA << 4, 1, peerId);
    const opening = Buffer.alloc(9);
    writeHeader(opening, 0, (FrameType.DATA << 4) | Flag.SYN, 1, peerId);
    const credit = Buffer.alloc(12);
    writeHeader(credit, 0, FrameType.WINDOW << 4, 4, peerId);
    credit.writeUInt32BE(1, 8);

    function beating() {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      onTestFinished(() => void vi.useRealTimers());
      const wire = new Wire();
      let ended: string | undefined;
      const session = new MuxSession(
        wire as unknown as Socket,
        {
          onStream: (stream) => {
            stream.events = { ...noopStreamEvents, onData: (chunk) => stream.consumed(chunk.length) };
          },
          onClose: (_code, message) => {
            ended = message;
          },
        },
        { role, peerStreamsMax: 10 },
      );
      const heartbeat = startHeartbeat(session, { interval: INTERVAL, tolerance: TOLERANCE });
      return { heartbeat, wire, receive: (bytes: Buffer) => wire.emit('data', bytes), ended: () => ended };
    }

    test.each([
      ['data', data],
      ['credit', credit],
      ['a part of a frame, a byte at a time', undefined],
    ])('any byte that comes is a sign of life, while the echo is behind it: %s', (_kind, frame) => {
      const { receive, ended } = beating();
      receive(opening);
      for (let i = 0; i < 54; i++) {
        vi.advanceTimersByTime(TOLERANCE - 1);
        receive(frame ?? data.subarray(i % data.length, (i % data.length) + 1));
        expect(ended()).toBeUndefined();
      }
      vi.advanceTimersByTime(TOLERANCE - 1);
      expect(ended()).toBeUndefined();
      vi.advanceTimersByTime(1);
      expect(ended()).toBe(`no sign of life for ${TOLERANCE} ms`);
    });

    test('a peer that is asked for a sign of life has the time that is given, and any byte is one', async () => {
      const { heartbeat, receive } = beating();
      receive(opening);
      vi.advanceTimersByTime(1);
      const [alive, silent] = [heartbeat.isAnswered(4000), heartbeat.isAnswered(2000)];
      vi.advanceTimersByTime(2000);
      expect(await silent).toBe(false);
      receive(data);
      vi.advanceTimersByTime(1000);
      expect(await alive).toBe(true);
    });

    test('a session to which nothing comes ends after the tolerance', () => {
      const { ended } = beating();
      vi.advanceTimersByTime(TOLERANCE - 1);
      expect(ended()).toBeUndefined();
      vi.advanceTimersByTime(1);
      expect(ended()).toBe(`no sign of life for ${TOLERANCE} ms`);
    });
  });
});

// Calls, and signs of life.

import { describe, expect, test } from 'vitest';
import {
  answerCall,
  answerHeartbeat,
  callPeer,
  ErrorCode,
  noopStreamEvents,
  readStreamType,
  StreamType,
  startHeartbeat,
} from '../../src/protocol/index.ts';
import { collect, pair } from './pair.ts';

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

  test('a peer that is silent is given up', async () => {
    const { client, server } = await pair();
    server.accept(() => noopStreamEvents);
    startHeartbeat(client.session, { interval: 10, tolerance: 30 });
    expect((await client.closed).message).toContain('no sign of life');
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
});

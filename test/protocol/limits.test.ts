// What a peer can make a session keep and do.

import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  ErrorCode,
  Flag,
  FrameType,
  MuxSession,
  noopStreamEvents,
  openTypedStream,
  StreamType,
  writeHeader,
} from '../../src/protocol/index.ts';
import { eventually } from '../support/eventually.ts';
import { connection, end, pair } from './pair.ts';

const MB = 1024 * 1024;
const HEADER = 8;

function frame(type: number, flags: number, id: number, body = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(HEADER + body.length);
  writeHeader(bytes, 0, (type << 4) | flags, body.length, id);
  body.copy(bytes, HEADER);
  return bytes;
}

/** So many frames of one kind, each of a stream of its own. */
const frames = (count: number, make: (id: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => make(2 * i + 1)));

async function ends(): Promise<{ near: Socket; far: Socket; server: ReturnType<typeof end> }> {
  const [near, far] = await connection();
  onTestFinished(() => void near.destroy());
  near.on('error', () => {});
  return { near, far, server: end(far, 'server') };
}

describe('a peer that does not read', () => {
  test('is not read from, once its answers pile up; and is again when it has read them', async () => {
    const { near, far, server } = await ends();
    near.pause();
    // Each is answered with a reset, as there is no such stream.
    const sent = Buffer.alloc(9 * 600_000, frame(FrameType.DATA, 0, 1, Buffer.from('x')));
    near.write(sent);
    await eventually(() => expect(far.isPaused()).toBe(true));
    expect(far.writableLength).toBeLessThan(2 * MB);
    expect(server.session.bytesIn).toBeLessThan(sent.length);
    near.resume();
    await eventually(() => expect(server.session.bytesIn).toBe(sent.length));
    expect(server.session.isClosed).toBe(false);
  });
});

describe('a peer that keeps us busy with nothing', () => {
  test('is shown the door: data without bytes', async () => {
    const { near, server } = await ends();
    near.resume().write(Buffer.alloc(1.2 * MB, frame(FrameType.DATA, 0, 1)));
    expect((await server.closed).code).toBe(ErrorCode.ENHANCE_CALM);
  });

  test('is shown the door: streams that are opened and reset at once', async () => {
    const { near, server } = await ends();
    const reset = Buffer.from([0, 0, 0, 6]);
    const open = (id: number) => frame(FrameType.DATA, Flag.SYN, id, Buffer.from('abcd'));
    near.resume().write(frames(3000, (id) => Buffer.concat([open(id), frame(FrameType.RESET, 0, id, reset)])));
    expect((await server.closed).code).toBe(ErrorCode.ENHANCE_CALM);
  });

  test('but a gateway may open as many streams as there are visitors', async () => {
    const { client, server } = await pair();
    onTestFinished(() => client.session.close());
    for (let i = 0; i < 5000; i++) openTypedStream(server.session, StreamType.PROXY, Buffer.from('a visitor')).reset();
    openTypedStream(server.session, StreamType.PROXY, Buffer.from('the last one'));
    await eventually(() => expect(client.session.size).toBe(1));
    expect(client.session.isClosed).toBe(false);
  });

  test('but not one that answers each byte with credit, as SDKs do', async () => {
    const { near, server } = await ends();
    const first = frame(FrameType.DATA, Flag.SYN, 1, Buffer.from('abcd'));
    const credit = frame(FrameType.WINDOW, 0, 1, Buffer.from([0, 0, 0, 1]));
    const round = Buffer.concat([credit, frame(FrameType.DATA, 0, 1, Buffer.from('x'))]);
    const whole = Buffer.alloc(100_000 * round.length, round);
    server.accept((stream) => ({ ...noopStreamEvents, onData: (chunk) => stream.consumed(chunk.length) }));
    near.resume().write(Buffer.concat([first, whole]));
    await eventually(() => expect(server.session.bytesIn).toBe(first.length + whole.length));
    expect(server.session.isClosed).toBe(false);
  });
});

describe('a stranger', () => {
  async function stranger() {
    const [near, far] = await connection();
    onTestFinished(() => void near.destroy());
    const closed = new Promise<ErrorCode>((onClose) => {
      const options = {
        role: 'server',
        peerStreamsMax: 10,
        unauthenticatedLimits: { bytes: 1000, streams: 2 },
      } as const;
      new MuxSession(far, { onStream() {}, onClose }, options);
    });
    return { near: near.resume(), closed };
  }

  test('may send so many bytes, on however many streams, and not one more', async () => {
    const { near, closed } = await stranger();
    near.write(frame(FrameType.DATA, Flag.SYN, 1, Buffer.alloc(1000)));
    expect(await closed).toBe(ErrorCode.ENHANCE_CALM);
  });

  test('may have so many streams open, and not one more', async () => {
    const { near, closed } = await stranger();
    near.write(frames(3, (id) => frame(FrameType.DATA, Flag.SYN, id)));
    expect(await closed).toBe(ErrorCode.ENHANCE_CALM);
  });
});

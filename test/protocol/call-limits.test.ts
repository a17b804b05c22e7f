// What calls of a peer may cost, and what a failure of our own side ends.

import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  answerCall,
  ByteBudget,
  callPeer,
  ErrorCode,
  Flag,
  FrameType,
  MESSAGE_MAX,
  MuxSession,
  type MuxSessionEvents,
  noopStreamEvents,
  openTypedStream,
  readStreamType,
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

async function ends(): Promise<{ near: Socket; far: Socket; server: ReturnType<typeof end> }> {
  const [near, far] = await connection();
  onTestFinished(() => void near.destroy());
  near.on('error', () => {});
  return { near, far, server: end(far, 'server') };
}

/** What is in use, without the garbage, of which newer versions of Node keep more. In bytes. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('calls', () => {
  /** A caller, and a callee whose calls share a budget and are answered with what they say. */
  async function callee(budget: ByteBudget) {
    const { client, server } = await pair();
    onTestFinished(() => client.session.close());
    server.accept((stream) => {
      readStreamType(stream, (_, rest) =>
        answerCall(
          stream,
          rest,
          async (request) => request,
          (reason) => reason,
          budget,
        ),
      );
      return stream.events;
    });
    return client.session;
  }

  test('under way share a budget, which is free again when they are over', async () => {
    const budget = new ByteBudget(2 * MB);
    const session = await callee(budget);
    const unfinished = Buffer.from(`{"a":"${'x'.repeat(MESSAGE_MAX - 100)}`);
    const streams = [0, 1].map(() => {
      const stream = openTypedStream(session, StreamType.BIND, unfinished.subarray(0, 100));
      stream.write(unfinished.subarray(100));
      return stream;
    });
    await eventually(() => {
      const isFree = budget.take(1);
      if (isFree) budget.give(1);
      expect(isFree).toBe(false);
    });
    const refused = (await callPeer(session, StreamType.BIND, { b: 'y'.repeat(5000) }, 5000)) as { Error: string };
    expect(refused.Error).toContain('2097152 bytes together');
    for (const stream of streams) stream.reset();
    await expect(callPeer(session, StreamType.BIND, { b: 'y' }, 5000)).resolves.toEqual({ b: 'y' });
  });

  test('that come byte by byte cost what they are long, and not a hundred times as much', async () => {
    const { near, server } = await ends();
    server.accept((stream) => {
      readStreamType(stream, (_, rest) => answerCall(stream, rest, async () => ({}), String));
      return stream.events;
    });
    const id = (n: number) => 2 * n + 1;
    const streams = Array.from({ length: 4 }, (_, n) => n);
    const begin = Buffer.concat([Buffer.from([0, 0, 0, 1]), Buffer.from('{"a":"')]);
    const length = 100_000;
    const before = heapInUse();
    for (const n of streams) near.write(frame(FrameType.DATA, Flag.SYN, id(n), begin));
    for (const n of streams) near.write(Buffer.alloc(length * 9, frame(FrameType.DATA, 0, id(n), Buffer.from('x'))));
    await eventually(() => expect(server.session.bytesIn).toBe(streams.length * (18 + length * 9)), {
      timeout: 15_000,
    });
    // A piece for each would be 100 bytes and more, of every one.
    expect(heapInUse() - before).toBeLessThan(30 * MB);
  });

  test.each([
    ['that are nested deeper than 64', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, '64 deep'],
    ['that are not UTF-8', Buffer.from([...Buffer.from('{"a":"'), 0xff, 0xc0, ...Buffer.from('"}')]), 'UTF-8'],
  ])('%s are refused with a reason', async (_, text, reason) => {
    const session = await callee(new ByteBudget(MB));
    const answered = new Promise<string>((resolve) => {
      openTypedStream(session, StreamType.BIND, Buffer.from(text as string), {
        ...noopStreamEvents,
        onData: (chunk) => resolve(String(chunk)),
      });
    });
    expect(await answered).toContain(reason);
  });
});

describe('what fails on our own side', () => {
  test.each([
    ['onData', frame(FrameType.DATA, Flag.SYN, 1, Buffer.from('x'))],
    ['onReset', Buffer.concat([frame(FrameType.DATA, Flag.SYN, 1), frame(FrameType.RESET, 0, 1, Buffer.alloc(4))])],
    [
      'onDrain',
      Buffer.concat([frame(FrameType.DATA, Flag.SYN, 1), frame(FrameType.WINDOW, 0, 1, Buffer.from([0, 64, 0, 0]))]),
    ],
  ] as const)('in %s of a stream ends that stream, is told, and leaves the session alone', async (role, bytes) => {
    const defect = new Error(`a defect of ${role}`);
    const fails = () => {
      throw defect;
    };
    const { near, session, told } = await failing((stream) => {
      stream.events = { ...noopStreamEvents, [role]: fails };
      if (role === 'onDrain') stream.write(Buffer.alloc(MB));
    });
    near.write(bytes);
    await eventually(() => expect(told).toEqual([defect]));
    expect(session).toMatchObject({ isClosed: false, size: 0 });
  });

  test('where a stream is taken ends the session, and is told', async () => {
    const defect = new Error('a defect of onStream');
    const { near, closed, told } = await failing(() => {
      throw defect;
    });
    near.write(frame(FrameType.DATA, Flag.SYN, 1, Buffer.from('x')));
    expect(await closed).toBe(ErrorCode.INTERNAL);
    expect(told).toEqual([defect]);
  });

  async function failing(onStream: MuxSessionEvents['onStream']) {
    const [near, far] = await connection();
    onTestFinished(() => void near.destroy());
    const told: unknown[] = [];
    const onDefect = (error: unknown) => void told.push(error);
    let session: MuxSession | undefined;
    const closed = new Promise<ErrorCode>((onClose) => {
      session = new MuxSession(far, { onStream, onClose, onDefect }, { role: 'server', peerStreamsMax: 10 });
    });
    return { near: near.resume(), closed, told, session };
  }
});

// Bytes both ways between a stream and a socket.

import { expect, onTestFinished, test, vi } from 'vitest';
import { type ByteStream, noopStreamEvents, relay } from '../../src/protocol/index.ts';
import { connection } from './pair.ts';

test('short pieces that have to wait for a socket are joined, and come out as they were', async () => {
  const [near, far] = await connection();
  onTestFinished(() => void near.destroy());
  const stream: ByteStream = {
    events: noopStreamEvents,
    write: () => true,
    end() {},
    reset() {},
    consumed() {},
  };
  relay(stream, far);
  near.pause();
  const sent: Buffer[] = [];
  const say = (piece: Buffer) => {
    sent.push(piece);
    stream.events.onData(piece);
  };
  // The kernel takes some megabytes before it makes anybody wait.
  while (!far.writableNeedDrain) {
    say(Buffer.alloc(256 * 1024, 'a'));
    await new Promise(setImmediate);
  }
  const write = vi.spyOn(far, 'write');
  for (let i = 0; i < 100_000; i++) {
    if (i % 30_000 === 29_999) say(Buffer.alloc(5000, 'b'));
    say(Buffer.from(String(i % 10)));
  }
  expect(write.mock.calls.length).toBeLessThan(20);
  stream.events.onEnd();
  const read: Buffer[] = [];
  for await (const chunk of near) read.push(chunk);
  expect(Buffer.concat(read).equals(Buffer.concat(sent))).toBe(true);
});

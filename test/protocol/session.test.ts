// Many streams over one connection: what each carries, who waits for whom, and how they end.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { ErrorCode, INITIAL_WINDOW, type MuxStream, noopStreamEvents } from '../../src/protocol/index.ts';
import { collect, connection, end, pair, send } from './pair.ts';

describe('streams', () => {
  test('bytes arrive as they were sent, many streams at once, both ways', async () => {
    const { client, server } = await pair();
    const echoed: Promise<Buffer>[] = [];
    server.accept((stream) => ({
      ...noopStreamEvents,
      onData(chunk) {
        stream.write(Buffer.from(chunk));
        stream.consumed(chunk.length);
      },
      onEnd: () => stream.end(),
    }));
    const sent = Array.from({ length: 50 }, (_, i) => randomBytes(i * 20_000));
    for (const bytes of sent) {
      const stream = client.session.open(noopStreamEvents);
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
              ...noopStreamEvents,
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
    const stalled = client.session.open(noopStreamEvents);
    send(stalled, Buffer.alloc(2_000_000));
    await stalledIsFull;
    const opened = new Promise<void>((resolve) => {
      release = resolve;
    });
    const other = client.session.open(noopStreamEvents);
    send(other, Buffer.alloc(3_000_000, 1));
    await opened;
    expect((await results[0])?.length).toBe(3_000_000);
    expect(taken).toBe(INITIAL_WINDOW);
    client.session.close();
  });

  test('a stream that is reset says so to the other side, and its window is free again', async () => {
    const { client, server } = await pair();
    const reset = new Promise<number>((resolve) => {
      server.accept(() => ({ ...noopStreamEvents, onReset: resolve }));
    });
    const stream = client.session.open(noopStreamEvents);
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
      client.session
        .open({ ...noopStreamEvents, onReset: (code) => heard.push(`${name} ${code}`) })
        .write(Buffer.from(name));
    server.session.close(ErrorCode.NONE, 'good-bye');
    expect(await client.closed).toEqual({ code: ErrorCode.NONE, message: 'good-bye' });
    expect(heard).toEqual([`a ${ErrorCode.SESSION_CLOSED}`, `b ${ErrorCode.SESSION_CLOSED}`]);
    expect(() => client.session.open(noopStreamEvents)).toThrow('the session is closed');
  });

  test('more streams than agreed are refused, each by itself', async () => {
    const [near, far] = await connection();
    const client = end(near, 'client');
    const server = end(far, 'server', 2);
    server.accept(() => noopStreamEvents);
    const codes = await Promise.all(
      [1, 2, 3].map(
        (n) =>
          new Promise<string>((resolve) => {
            const stream = client.session.open({
              ...noopStreamEvents,
              onReset: (code) => resolve(`${n} refused ${code}`),
            });
            stream.write(Buffer.from('x'));
            if (n < 3) resolve(`${n} open`);
          }),
      ),
    );
    expect(codes).toEqual(['1 open', '2 open', `3 refused ${ErrorCode.ACCEPT_QUEUE_FULL}`]);
    client.session.close();
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

// Two ends of a session over a real connection.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import {
  type ErrorCode,
  MuxSession,
  type MuxStream,
  noopStreamEvents,
  type StreamEvents,
} from '../../src/protocol/index.ts';

export interface End {
  session: MuxSession;
  /** Streams that the other end opened, in order; who waits for one gets it with the events that it names. */
  accept(events: (stream: MuxStream) => StreamEvents): void;
  closed: Promise<{ code: ErrorCode; message: string }>;
}

/** A connection, both ends of it. */
export async function connection(): Promise<[near: Socket, far: Socket]> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[far]] = await Promise.all([once(server, 'connection') as Promise<[Socket]>, once(near, 'connect')]);
  server.close();
  return [near, far];
}

export function end(transport: Socket, role: 'client' | 'server', peerStreamsMax = 1000): End {
  let accept: (stream: MuxStream) => StreamEvents = () => noopStreamEvents;
  let onClose: (reason: { code: ErrorCode; message: string }) => void;
  const closed = new Promise<{ code: ErrorCode; message: string }>((resolve) => {
    onClose = resolve;
  });
  const session = new MuxSession(
    transport,
    {
      onStream: (stream) => {
        stream.events = accept(stream);
      },
      onClose: (code, message) => onClose({ code, message }),
    },
    { role, peerStreamsMax },
  );
  return {
    session,
    accept: (events) => {
      accept = events;
    },
    closed,
  };
}

export async function pair(): Promise<{ client: End; server: End }> {
  const [near, far] = await connection();
  return { client: end(near, 'client'), server: end(far, 'server') };
}

/** Collects what a stream brings, giving credit as it comes. */
export function collect(stream: MuxStream): { events: StreamEvents; all: Promise<Buffer> } {
  const chunks: Buffer[] = [];
  let events: StreamEvents = noopStreamEvents;
  const all = new Promise<Buffer>((resolve, reject) => {
    events = {
      ...noopStreamEvents,
      onData(chunk) {
        chunks.push(chunk);
        stream.consumed(chunk.length);
      },
      onEnd: () => resolve(Buffer.concat(chunks)),
      onReset: (code) => reject(new Error(`reset ${code}`)),
    };
  });
  return { events, all };
}

/** Writes all of it, waiting where it has to, and ends the stream. */
export function send(stream: MuxStream, bytes: Buffer, step = 64 * 1024): void {
  let at = 0;
  const go = () => {
    while (at < bytes.length) {
      const more = stream.write(bytes.subarray(at, at + step));
      at += step;
      if (!more) return;
    }
    stream.end();
  };
  stream.events = { ...stream.events, onDrain: go };
  go();
}

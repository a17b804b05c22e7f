// Services that answer with whatever they are told to.

import type { Socket } from 'node:net';
import { asHttp1, asHttp2, frame, type Nonsense } from './random-responses.ts';

const PREFACE_LENGTH = 24;

/** One that speaks HTTP/1.1, and answers once on each connection. */
export function serveHttp1(socket: Socket, answer: () => Nonsense): void {
  socket.on('error', () => {});
  socket.once('data', () => {
    const nonsense = answer();
    if (nonsense.isBroken) socket.write(asHttp1(nonsense).subarray(0, -1), () => socket.resetAndDestroy());
    else socket.end(asHttp1(nonsense));
  });
}

/** One that speaks HTTP/2. Reads just enough of the frames to know when a request is complete. */
export function serveHttp2(socket: Socket, answer: () => Nonsense): void {
  socket.on('error', () => {});
  socket.write(frame(4, 0, 0, Buffer.alloc(0)));
  let bytes = Buffer.alloc(0);
  let at = PREFACE_LENGTH;
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= at + 9 && bytes.length >= at + 9 + bytes.readUIntBE(at, 3)) {
      const [type, flags, id] = [bytes[at + 3] as number, bytes[at + 4] as number, bytes.readUInt32BE(at + 5)];
      at += 9 + bytes.readUIntBE(at, 3);
      if (type === 4 && (flags & 1) === 0) socket.write(frame(4, 1, 0, Buffer.alloc(0)));
      if (type === 1) socket.write(asHttp2(answer(), id));
      if (type === 7) socket.end(); // GOAWAY: the frames were not even that.
    }
  });
}

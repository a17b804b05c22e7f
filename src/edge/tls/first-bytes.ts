// A visitor's first bytes, read without taking them from whoever speaks TLS afterwards.

import type { Socket } from 'node:net';
import { keepClientHello } from '../visitors/client-hellos.ts';
import { type Peek, readClientHello } from './client-hello.ts';

/** The fatal alert unrecognized_name (RFC 8446, section 6), as the record that it is sent in. */
export const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

/**
 * Reads until the ClientHello is complete, or is none. The socket is paused then, and everything that was read of it is
 * given, nothing is left in it. Never calls back when the socket ends or breaks before: it is destroyed.
 */
export function readFirstBytes(socket: Socket, onRead: (hello: Peek, bytes: Buffer) => void): void {
  let bytes: Buffer = EMPTY;
  let needed = 1;
  const onData = (chunk: Buffer) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    if (bytes.length < needed) return;
    const hello = readClientHello(bytes);
    if (hello.state === 'more') {
      needed = hello.needed;
      return;
    }
    socket.off('data', onData).off('end', onEnd).pause();
    if (hello.state === 'hello') keepClientHello(socket, bytes);
    onRead(hello, bytes);
  };
  const onEnd = () => socket.destroy();
  socket.on('data', onData).on('end', onEnd);
}

/** Says that no certificate is here for the name. The deadline of the handshake limits how long that takes. */
export function refuse(raw: Socket): void {
  raw.resume().end(UNRECOGNIZED_NAME);
}

const EMPTY = Buffer.alloc(0);

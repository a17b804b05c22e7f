// Whether a connection of HTTP/2 still works. Node does not say so of two that do not. When a visitor is gone, the error of
// the write under way may be lost between its TLS and its HTTP/2: nothing is written any more then, and nothing is read, for
// ever. And after a malformed frame nghttp2 says goodbye by itself, and takes and gives nothing from then on, while the
// socket stays open.

import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** The frame of a PING, and of its answer (RFC 9113, section 6.7). */
const PING_BYTES = 17;

/** What net.js itself uses of a socket's handle, and Node's types leave out. */
interface Handle {
  /** Bytes that the kernel has not taken yet. */
  writeQueueSize?: number;
  /** @returns an error's number, other than 0, of a connection that was reset. */
  getpeername?(address: object): number;
}

/**
 * Looks at a connection now and then, and asks more of it only once after the last byte has passed: the kernel, whether it
 * was reset; and the session, whether it writes a PING, where the visitor has sent something since the last one.
 */
export class ConnectionLiveness {
  readonly #session: ServerHttp2Session;
  readonly #socket: TLSSocket;
  readonly #raw: Socket;
  #read = 0;
  #written = 0;
  /** Bytes that had come when the session was last known to take them. */
  #readAtPing = 0;
  /** Whether all was well since the last byte, in either direction. */
  #isSettled = false;

  /** @param raw what the visitor's TLS is spoken over. */
  constructor(session: ServerHttp2Session, socket: TLSSocket, raw: Socket) {
    this.#session = session;
    this.#socket = socket;
    this.#raw = raw;
  }

  /** @returns whether the connection does nothing any more, and never will. */
  isLost(): boolean {
    const { bytesRead, bytesWritten } = this.#socket;
    if (bytesRead !== this.#read || bytesWritten !== this.#written) {
      this.#read = bytesRead;
      this.#written = bytesWritten;
      this.#isSettled = false;
      return false;
    }
    if (this.#isSettled || this.#session.destroyed) return false;
    const { _handle: handle } = this.#raw as { _handle?: Handle | null };
    if (!handle || handle.getpeername?.({})) return true;
    if (handle.writeQueueSize !== 0) return false; // A visitor who is slow, or may still turn out to be gone.
    if ((this.#session.state.outboundQueueSize ?? 0) > 0) return true;
    if (bytesRead === this.#readAtPing) this.#isSettled = true;
    else this.#ping();
    return false;
  }

  #ping(): void {
    this.#readAtPing = this.#read;
    this.#session.ping((error) => {
      if (!error) this.#readAtPing += PING_BYTES; // Its answer is no reason for another one.
    });
  }
}

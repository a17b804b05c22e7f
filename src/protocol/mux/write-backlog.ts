// The write backlog of a connection whose peer does not read.

import type { Socket } from 'node:net';

/**
 * The backlog in bytes at which reading stops. It is twice the write buffer of data, as control frames are not held
 * back.
 */
const BACKLOG_MAX = 1024 * 1024;
/** The time in which the peer must read the backlog; milliseconds. */
const BACKLOG_TIMEOUT_MS = 300_000;

/** Stops reading from a peer that does not read: its frames cause responses, and the backlog of these would be unbounded. */
export class WriteBacklog {
  readonly #transport: Socket;
  readonly #onTimeout: (message: string) => void;
  #deadline: NodeJS.Timeout | undefined;

  /** @param onTimeout ends the session; called when the peer has not read the backlog in time. */
  constructor(transport: Socket, onTimeout: (message: string) => void) {
    this.#transport = transport;
    this.#onTimeout = onTimeout;
  }

  /** Checks the backlog; called after every write that returned false. */
  check(): void {
    if (this.#deadline || this.#transport.writableLength <= BACKLOG_MAX) return;
    this.#transport.pause();
    const expire = () => this.#onTimeout(`the peer has read nothing for ${BACKLOG_TIMEOUT_MS} ms`);
    this.#deadline = setTimeout(expire, BACKLOG_TIMEOUT_MS).unref();
  }

  /** Resumes reading; called when the backlog is written. */
  drained(): void {
    if (!this.#deadline) return;
    this.end();
    this.#transport.resume();
  }

  /** Stops the timer; called when the session is closed. */
  end(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }
}

// What waits for a connection whose peer does not read.

import type { Socket } from 'node:net';

/** What may wait, in bytes, before nothing more is read: twice what data may, as answers to frames wait for no room. */
const BACKLOG_MAX = 1024 * 1024;
/** How long the peer may take to read that; milliseconds. */
const BACKLOG_MS = 300_000;

/** Stops reading from a peer that does not read: what it sends makes us answer, and the answers would wait without end. */
export class WriteBacklog {
  readonly #transport: Socket;
  readonly #giveUp: (message: string) => void;
  #deadline: NodeJS.Timeout | undefined;

  /** @param giveUp ends the session: the peer has read nothing for minutes. */
  constructor(transport: Socket, giveUp: (message: string) => void) {
    this.#transport = transport;
    this.#giveUp = giveUp;
  }

  /** To be told of every write that the connection did not take at once. */
  check(): void {
    if (this.#deadline || this.#transport.writableLength <= BACKLOG_MAX) return;
    this.#transport.pause();
    const giveUp = () => this.#giveUp(`nothing was read for ${BACKLOG_MS} ms`);
    this.#deadline = setTimeout(giveUp, BACKLOG_MS).unref();
  }

  /** Nothing waits any more. */
  drained(): void {
    if (!this.#deadline) return;
    this.end();
    this.#transport.resume();
  }

  end(): void {
    clearTimeout(this.#deadline);
    this.#deadline = undefined;
  }
}

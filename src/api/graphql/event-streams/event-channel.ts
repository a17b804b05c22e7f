// One stream of server-sent events that carries the results of many operations.

import type { ServerResponse } from 'node:http';
import type { Carrier } from '../connection-operations.ts';
import { EVENT_STREAM_HEADERS, HEARTBEAT, HEARTBEAT_MS } from '../plugins/event-stream.ts';

/** While a client has not taken so many bytes of what it was sent, nothing more is begun for it. */
const UNREAD_MAX = 1024 * 1024;

export class EventChannel implements Carrier {
  readonly #response: ServerResponse;

  /** Begins the stream, whose client is told that it is there. */
  constructor(response: ServerResponse) {
    this.#response = response;
    response.writeHead(200, EVENT_STREAM_HEADERS);
    response.write(HEARTBEAT);
    const heartbeat = setInterval(() => {
      if (response.writableLength === 0) response.write(HEARTBEAT);
    }, HEARTBEAT_MS);
    response.once('close', () => clearInterval(heartbeat));
  }

  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  send(event: 'next' | 'complete', data: object): void {
    if (this.isOpen) this.#response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  async readable(): Promise<void> {
    while (this.isOpen && this.#response.writableLength > UNREAD_MAX)
      await new Promise<void>((resolve) => {
        const go = () => {
          this.#response.off('drain', go).off('close', go);
          resolve();
        };
        this.#response.once('drain', go).once('close', go);
      });
  }

  /** Ends the stream. Clients come back, as nothing is complete. */
  close(): void {
    this.#response.end();
  }
}

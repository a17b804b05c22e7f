// What this process has to tell the others: it is gathered for a moment, and waits while the connection is away. A gap stands for
// what could not be sent, and comes before what has waited since.

import { waitAtMost } from '../../runtime/wait-at-most.ts';
import type { BusClient } from './bus-client.ts';
import { type CommittedChanges, packChanges } from './peer-message.ts';

/** How long hints are gathered, in milliseconds. Together they are one message, or a few. */
const GATHER_MS = 20;
/** The most changes that wait. Beyond them, all are dropped, and the others read again. */
const WAITING_MAX = 10_000;
/** The pause before a message that could not be sent is followed by another, in milliseconds. */
const RETRY_MS = 1000;
/** How long a stop waits for the last messages, in milliseconds. */
const LAST_MS = 500;

/** How many changes were sent after their commit, and how many were dropped. */
export interface OutboxCounters {
  sent: number;
  dropped: number;
}

export class PeerOutbox {
  readonly counters: OutboxCounters = { sent: 0, dropped: 0 };
  readonly #node: string;
  readonly #client: Pick<BusClient, 'isConnected' | 'publish'>;
  readonly #maxBytes: number;
  #waiting: CommittedChanges[] = [];
  #count = 0;
  /** Whether the others have to be told that changes were lost. */
  #owesGap = false;
  #timer: NodeJS.Timeout | undefined;
  #isFlushing = false;
  /** Settles when the last flush has ended. */
  #flushed: Promise<void> = Promise.resolve();

  constructor(node: string, client: Pick<BusClient, 'isConnected' | 'publish'>, maxBytes: number) {
    this.#node = node;
    this.#client = client;
    this.#maxBytes = maxBytes;
  }

  /** Sends committed changes soon. @param isUrgent whether at once, with all that waits. */
  add(committed: CommittedChanges, isUrgent = false): void {
    this.#waiting.push(committed);
    this.#count += committed.changes.length;
    if (this.#count > WAITING_MAX) this.#dropAll();
    if (isUrgent) this.flush();
    else this.#flushIn(GATHER_MS);
  }

  /** Sends all that waits, if there is a connection. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isFlushing) this.#flushed = this.#sendAll();
  }

  /** Sends the last changes, within a time limit. */
  async close(): Promise<void> {
    this.flush();
    await waitAtMost(LAST_MS, this.#flushed);
    clearTimeout(this.#timer);
  }

  async #sendAll(): Promise<void> {
    this.#isFlushing = true;
    try {
      while (this.#client.isConnected && (this.#owesGap || this.#count > 0)) {
        const isSent = this.#owesGap ? await this.#sendGap() : await this.#sendWaiting();
        if (!isSent) return;
      }
    } finally {
      this.#isFlushing = false; // In the same turn as the look at what waits: nothing is added in between.
    }
  }

  async #sendGap(): Promise<boolean> {
    this.#owesGap = false;
    return this.#send(JSON.stringify({ node: this.#node, gap: true }));
  }

  async #sendWaiting(): Promise<boolean> {
    const all = this.#waiting;
    const count = this.#count;
    [this.#waiting, this.#count] = [[], 0];
    for (const text of packChanges(this.#node, all, this.#maxBytes)) {
      if (await this.#send(text)) continue;
      this.counters.dropped += count; // Some of them may have been sent.
      return false;
    }
    this.counters.sent += count;
    return true;
  }

  async #send(text: string): Promise<boolean> {
    try {
      await this.#client.publish(text);
      return true;
    } catch {
      this.#owesGap = true;
      this.#flushIn(RETRY_MS);
      return false;
    }
  }

  #flushIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.flush(), ms).unref();
  }

  #dropAll(): void {
    if (this.#count === 0) return;
    this.counters.dropped += this.#count;
    [this.#waiting, this.#count] = [[], 0];
    this.#owesGap = true;
  }
}

// Sinks that are open, one for each destination: opening one costs handshakes and sessions.

import type { Target } from '../sinks/index.ts';
import { type Sink, SinkError } from '../sinks/sink.ts';
import type { LeasedQueue } from './destination-queue.ts';

/** How long a sink is kept that nobody uses; milliseconds. */
const UNUSED_MS = 10 * 60 * 1000;

export type OpenSink = (target: Target, ids: { destinationId: string; accountId: string }) => Promise<Sink>;

export interface OpenedSink {
  sink: Sink;
  /** What `sendAll` said the last time. */
  most: number | undefined;
}

interface Kept {
  fingerprint: string;
  opened: OpenedSink;
  usedAt: number;
}

export class OpenSinks {
  readonly #open: OpenSink;
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept>();

  /** @param now milliseconds, monotonic. */
  constructor(open: OpenSink, now: () => number) {
    this.#open = open;
    this.#now = now;
  }

  /**
   * The sink of a lane, which one at a time uses. One of another target than the lane's is closed.
   * @throws {SinkError} when the target cannot be read; and what opening it throws.
   */
  async of({ destinationId, accountId, fingerprint, target }: LeasedQueue): Promise<OpenedSink> {
    const usedAt = this.#now();
    const kept = this.#kept.get(destinationId);
    if (kept?.fingerprint === fingerprint) {
      kept.usedAt = usedAt;
      return kept.opened;
    }
    this.#close(destinationId);
    if (!target) throw secretsUnreadable();
    const opened = { sink: await this.#open(target, { destinationId, accountId }), most: undefined };
    this.#kept.set(destinationId, { fingerprint, opened, usedAt });
    return opened;
  }

  /** Closes those that nobody has used for 10 min. */
  sweep(): void {
    const before = this.#now() - UNUSED_MS;
    for (const [id, { usedAt }] of this.#kept) if (usedAt < before) this.#close(id);
  }

  close(): void {
    for (const id of [...this.#kept.keys()]) this.#close(id);
  }

  #close(destinationId: string): void {
    this.#kept.get(destinationId)?.opened.sink.close();
    this.#kept.delete(destinationId);
  }
}

/** Why a target cannot be used whose secrets were sealed with a key that this process has not. */
export function secretsUnreadable(): SinkError {
  return new SinkError('config', {
    code: 'SecretsUnreadable',
    message: 'the secrets of the target were stored under another server key: set them again',
  });
}

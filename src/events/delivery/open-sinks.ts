// The open sinks, one per destination. They are cached because opening one costs handshakes and sessions.

import type { Target } from '../sinks/index.ts';
import { type Sink, SinkError } from '../sinks/sink.ts';
import type { LeasedQueue } from './destination-queue.ts';

/** How long an unused sink stays open, in milliseconds. */
const IDLE_MAX_MS = 10 * 60 * 1000;

export type OpenSink = (target: Target, ids: { destinationId: string; accountId: string }) => Promise<Sink>;

export interface OpenedSink {
  sink: Sink;
  /** The `batchLimit` of the last `SendResult`. */
  batchLimit: number | undefined;
}

interface CachedSink {
  fingerprint: string;
  opened: OpenedSink;
  usedAt: number;
}

export class OpenSinks {
  readonly #open: OpenSink;
  readonly #now: () => number;
  readonly #cached = new Map<string, CachedSink>();

  /** @param now milliseconds, monotonic. */
  constructor(open: OpenSink, now: () => number) {
    this.#open = open;
    this.#now = now;
  }

  /**
   * The sink of a destination, for the one holder of its lease. A sink of an earlier target is closed.
   * @throws {SinkError} when the target cannot be decrypted, or cannot be opened.
   */
  async sinkFor({ destinationId, accountId, fingerprint, target }: LeasedQueue): Promise<OpenedSink> {
    const usedAt = this.#now();
    const cached = this.#cached.get(destinationId);
    if (cached?.fingerprint === fingerprint) {
      cached.usedAt = usedAt;
      return cached.opened;
    }
    this.#close(destinationId);
    if (!target) throw secretsUnreadable();
    const opened = { sink: await this.#open(target, { destinationId, accountId }), batchLimit: undefined };
    this.#cached.set(destinationId, { fingerprint, opened, usedAt });
    return opened;
  }

  /** Closes the sinks that were unused for 10 minutes. */
  sweep(): void {
    const before = this.#now() - IDLE_MAX_MS;
    for (const [id, { usedAt }] of this.#cached) if (usedAt < before) this.#close(id);
  }

  close(): void {
    for (const id of [...this.#cached.keys()]) this.#close(id);
  }

  #close(destinationId: string): void {
    this.#cached.get(destinationId)?.opened.sink.close();
    this.#cached.delete(destinationId);
  }
}

/** The failure of a target whose secrets were sealed with a server key that this process does not have. */
export function secretsUnreadable(): SinkError {
  return new SinkError('config', {
    code: 'SecretsUnreadable',
    message: 'the secrets of the target were stored under another server key: set them again',
  });
}

// When API keys were last used: noted on the way of a request, written later and together.

import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { boundedTo } from '../../runtime/lru-bound.ts';
import { type Schedule, scheduleByTimer } from '../../runtime/schedule.ts';
import type { PrismaClient } from '../../store/database/client.ts';

const MINUTE_MS = 60_000;
/** How long uses are gathered before they are written; milliseconds. */
const BATCH_MS = 3000;
const KEYS_MAX = 10_000;

/** Writes for each API key, at most once a minute, that it was used in this minute. */
export class ApiKeyUsageWriter {
  readonly #prisma: PrismaClient;
  readonly #now: () => number;
  readonly #log: Logger;
  /** The minute in which a key was last noted. */
  readonly #lastRecorded = new LRUCache<string, number>(boundedTo(KEYS_MAX));
  readonly #unwritten = new Map<string, number>();
  readonly #schedule: Schedule;
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** @param now the wall clock, in milliseconds. */
  constructor(prisma: PrismaClient, now: () => number, log: Logger, schedule = scheduleByTimer) {
    this.#prisma = prisma;
    this.#now = now;
    this.#log = log;
    this.#schedule = schedule;
  }

  /** Notes that a key was used just now. */
  recordUse(keyId: string): void {
    const minute = Math.floor(this.#now() / MINUTE_MS);
    if (this.#lastRecorded.get(keyId) === minute || this.#unwritten.size >= KEYS_MAX) return;
    this.#lastRecorded.set(keyId, minute);
    this.#unwritten.set(keyId, minute);
    this.#cancelTimer ??= this.#schedule(BATCH_MS, () => void this.flush());
  }

  /** Writes what was noted, now. It never rejects: what cannot be written is lost, as nothing hangs on it. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#writing = this.#writing
      .then(() => this.#write())
      .catch((error) => this.#log.warn({ err: describeFailure(error) }, 'last use of API keys could not be saved'));
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    // Every process locks the rows in the same order, so that none waits for another that waits for it.
    const uses = [...this.#unwritten].sort(([a], [b]) => (a < b ? -1 : 1));
    this.#unwritten.clear();
    const ids = uses.map(([id]) => id);
    const times = uses.map(([, minute]) => new Date(minute * MINUTE_MS));
    await this.#prisma.$executeRaw`
      WITH used AS (SELECT * FROM unnest(${ids}::text[], ${times}::timestamptz[]) AS used (id, at)),
        later AS (
          SELECT k.id, used.at FROM api_key k JOIN used ON used.id = k.id
          WHERE k.last_used_at IS NULL OR k.last_used_at < used.at
          ORDER BY k.id FOR UPDATE OF k)
      UPDATE api_key SET last_used_at = later.at FROM later WHERE api_key.id = later.id`;
  }
}

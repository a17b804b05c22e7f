// Finds changes of configuration that a bus has lost without anybody noticing. Every write takes a version out of a sequence of the
// database, and sends it with its changes. Each node reads the sequence at intervals: a version that it has not heard is a loss.
//
// LISTEN/NOTIFY needs none of this: PostgreSQL delivers what is committed, in order, on one connection, and a loss is a lost
// connection. NATS and Redis may drop messages, and a process may die between its commit and its message.

import { setTimeout as wait } from 'node:timers/promises';
import type { Db, PrismaClient } from '../database/client.ts';

/** How often the sequence is read, in milliseconds. Together with the grace it is below 5 seconds. */
const POLL_MS = 3500;
/** The time that messages may take after their version is visible, in milliseconds. */
const GRACE_MS = 500;
/** The most versions that are kept. Beyond them, everything counts as lost at the next poll. */
const HEARD_MAX = 10_000;

export interface ChangeVersionDeps {
  prisma: PrismaClient;
  /** Called when changes were not heard. */
  onLoss(): void;
  /** Called when the sequence cannot be read. The next poll makes up for it. */
  onFailure(error: unknown): void;
}

export class ChangeVersions {
  readonly #deps: ChangeVersionDeps;
  /** Versions up to this one have been compared; undefined before the first poll. */
  #compared: number | undefined;
  /** Versions above it that were heard. */
  #heard = new Set<number>();
  /** Versions that the last poll missed, as far as they are known one by one. */
  #missed = new Set<number>();
  #hasOverflowed = false;
  #timer: NodeJS.Timeout | undefined;
  #poll: Promise<void> | undefined;

  constructor(deps: ChangeVersionDeps) {
    this.#deps = deps;
  }

  start(): void {
    const poll = () => {
      this.#poll ??= this.poll()
        .catch(this.#deps.onFailure)
        .finally(() => {
          this.#poll = undefined;
        });
    };
    poll();
    this.#timer = setInterval(poll, POLL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Takes the version of a write, within its transaction and as its last statement: a version that is rolled back makes every
   * node read its configuration again.
   */
  async next(tx: Db): Promise<number> {
    const [row] = await tx.$queryRaw<{ version: bigint }[]>`SELECT nextval('change_version') AS version`;
    return Number(row?.version);
  }

  /** Notes that the changes of a write have reached this process, or are its own. */
  hear(version: number): void {
    if (this.#compared !== undefined && version <= this.#compared) return void this.#missed.delete(version);
    if (this.#heard.size >= HEARD_MAX) {
      this.#heard.clear();
      this.#hasOverflowed = true;
    }
    this.#heard.add(version);
  }

  /** Reads the sequence, and reports a loss when not all versions up to it have been heard soon after. */
  async poll(): Promise<void> {
    const last = await this.#read();
    await wait(GRACE_MS, undefined, { ref: false });
    const before = this.#compared;
    this.#compared = last;
    const heard = this.#heard;
    this.#heard = new Set([...heard].filter((version) => version > last));
    // A version is visible before its write is committed. What this process read after the first report may have been too early,
    // so a version that has not been heard since is reported once more.
    const hasMissedAgain = this.#missed.size > 0;
    this.#missed.clear();
    let isLoss = this.#hasOverflowed;
    this.#hasOverflowed = false;
    if (before !== undefined && last < before)
      isLoss = true; // The database was restored, or another server took over.
    else if (before !== undefined) {
      const above = [...heard].filter((version) => version > before && version <= last).length;
      if (above < last - before) {
        isLoss = true;
        for (let version = before + 1; version <= last && this.#missed.size < HEARD_MAX; version++)
          if (!heard.has(version)) this.#missed.add(version);
      }
    }
    if (isLoss || hasMissedAgain) this.#deps.onLoss();
  }

  async #read(): Promise<number> {
    const [row] = await this.#deps.prisma.$queryRaw<{ last: bigint }[]>`
      SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM change_version`;
    return Number(row?.last ?? 0);
  }
}

// How often something may happen for each of many keys, in a window that slides.

import { createHash } from 'node:crypto';

/** A window has pieces of this length, or longer ones when it would have more than `PIECES_MAX` of them. */
const PIECE_MS = 10_000;
const PIECES_MAX = 60;
const KEYS_MAX = 10_000;
/** Longer keys are kept as their digest: what visitors send may be long. */
const KEY_MAX = 64;

export interface RateLimit {
  /** How often in a window. */
  capacity: number;
  /** Milliseconds: a multiple of 10 s, up to 24 h. */
  windowMs: number;
  /** Of more keys than these, those that were used longest ago are forgotten. Default 10,000. */
  maxKeys?: number;
}

/** What was let in for one key, by the piece of time that it was in; pieces without any are left out. */
interface Visits {
  total: number;
  pieces: { piece: number; count: number }[];
}

/**
 * Counts per piece of the window instead of every single time. No window has ever more than the capacity; a place is free
 * again as soon as the whole piece that it was taken in is out of the window: at most a piece later than it might be.
 */
export class RateLimiter {
  readonly #capacity: number;
  readonly #pieces: number;
  readonly #pieceMs: number;
  readonly #keysMax: number;
  readonly #now: () => number;
  /** Those that were used longest ago are first. */
  readonly #visits = new Map<string, Visits>();

  constructor({ capacity, windowMs, maxKeys = KEYS_MAX }: RateLimit, now: () => number) {
    this.#capacity = capacity;
    this.#pieces = Math.min(Math.max(Math.round(windowMs / PIECE_MS), 1), PIECES_MAX);
    this.#pieceMs = windowMs / this.#pieces;
    this.#keysMax = maxKeys;
    this.#now = now;
  }

  /** Keys that are kept. */
  get size(): number {
    return this.#visits.size;
  }

  /** Takes a place, if there is one. @returns 0 when there was; else the milliseconds until one is free. */
  take(key: string): number {
    const now = this.#now();
    const piece = Math.floor(now / this.#pieceMs);
    const visits = this.#touch(key.length > KEY_MAX ? digest(key) : key, piece);
    if (visits.total >= this.#capacity) return Math.max(Math.ceil(this.#freeAt(visits) - now), 1);
    const last = visits.pieces.at(-1);
    if (last?.piece === piece) last.count++;
    else visits.pieces.push({ piece, count: 1 });
    visits.total++;
    return 0;
  }

  /** What is counted for a key now. */
  #touch(key: string, piece: number): Visits {
    const known = this.#visits.get(key);
    const visits = known ?? { total: 0, pieces: [] };
    if (known) this.#visits.delete(key);
    this.#visits.set(key, visits);
    if (this.#visits.size > this.#keysMax) {
      const [oldest = ''] = this.#visits.keys();
      this.#visits.delete(oldest);
    }
    this.#forget(visits, piece);
    return visits;
  }

  #forget(visits: Visits, piece: number): void {
    const { pieces } = visits;
    while (pieces[0] && pieces[0].piece < piece - this.#pieces) visits.total -= pieces.shift()?.count ?? 0;
  }

  #freeAt({ pieces }: Visits): number {
    const [oldest] = pieces;
    return oldest ? (oldest.piece + this.#pieces + 1) * this.#pieceMs : Number.POSITIVE_INFINITY;
  }
}

const digest = (key: string) => createHash('sha256').update(key).digest('base64');

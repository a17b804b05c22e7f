// The sessions of visitors as one data plane knows them: each is kept for a few seconds, so that not every request asks another
// process for it, and what is open in one is cut when it ends.

import { LRUCache } from 'lru-cache';
import {
  type HeldVisitorSessions,
  type NoSession,
  type SignInPlace,
  type SignInTerms,
  siteOf,
  type VisitorSession,
  type VisitorSessions,
} from '../../http/visitor-sessions.ts';

/** What the kept sessions may take, in characters, most of which are tokens. */
const KEPT_MAX = 16 * 1024 * 1024;
/** How often it is looked whether sessions have ended in which something is open, in milliseconds: at their end by time, nobody tells. */
const CHECK_MS = 10_000;
/** How many sessions one look is for. */
const CHECKED_MAX = 1000;

/** What the cache works with. */
export interface SessionCacheOptions {
  /** Who has the sessions. */
  sessions: VisitorSessions;
  /** The wall clock, in milliseconds. */
  time(): number;
  /** Called when it cannot be looked which sessions have ended. */
  onFailure(error: unknown): void;
  /** The time between two looks, in milliseconds; the usual one when left out. */
  checkMs?: number;
}

export class SessionCache implements HeldVisitorSessions {
  readonly #options: SessionCacheOptions;
  readonly #known = new LRUCache<string, VisitorSession>({ maxSize: KEPT_MAX, sizeCalculation: sizeOf });
  readonly #asked = new Map<string, Promise<VisitorSession | NoSession>>();
  readonly #held = new Map<string, Set<() => void>>();
  readonly #timer: NodeJS.Timeout;
  /** How often sessions have ended: what was asked before may be wrong. */
  #ends = 0;

  constructor(options: SessionCacheOptions) {
    this.#options = options;
    const check = () => void this.check().catch(options.onFailure);
    this.#timer = setInterval(check, options.checkMs ?? CHECK_MS).unref();
  }

  find(token: string, terms: SignInTerms, place: SignInPlace): ReturnType<HeldVisitorSessions['find']> {
    const { issuer, clientId, clientSecret, authId, maxMs, idleMs, checkMs } = terms;
    const settings = [issuer, clientId, clientSecret, authId, maxMs, idleMs, checkMs ?? null];
    const key = JSON.stringify([token, place.accountId, siteOf(terms, place.origin), ...settings]);
    const known = this.#known.get(key);
    if (known && this.#options.time() < known.usableUntil)
      return known.wasChecked ? { ...known, wasChecked: false } : known;
    const asked = this.#asked.get(key) ?? this.#ask(key, token, terms, place);
    this.#asked.set(key, asked);
    return asked;
  }

  begin: HeldVisitorSessions['begin'] = (...args) => this.#options.sessions.begin(...args);
  finish: HeldVisitorSessions['finish'] = (...args) => this.#options.sessions.finish(...args);
  end: HeldVisitorSessions['end'] = (...args) => this.#options.sessions.end(...args);

  hold(sessionId: string, cut: () => void): () => void {
    const held = this.#held.get(sessionId) ?? new Set();
    this.#held.set(sessionId, held.add(cut));
    return () => {
      held.delete(cut);
      if (held.size === 0 && this.#held.get(sessionId) === held) this.#held.delete(sessionId);
    };
  }

  /** Sessions have ended. @param ids undefined: it is not known which. */
  ended(ids: readonly string[] | undefined): void {
    this.#ends++;
    this.#asked.clear(); // Who asks now must not get what was asked for before.
    if (ids === undefined) this.#known.clear();
    else for (const [key, { id }] of this.#known.entries()) if (ids.includes(id)) this.#known.delete(key);
    for (const id of ids ?? []) this.#cut(id);
    if (ids === undefined) void this.check().catch(this.#options.onFailure);
  }

  /** Cuts what is open in sessions that have ended. */
  async check(): Promise<void> {
    const ids = [...this.#held.keys()];
    for (let at = 0; at < ids.length; at += CHECKED_MAX)
      for (const id of await this.#options.sessions.ended(ids.slice(at, at + CHECKED_MAX))) this.#cut(id);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #cut(sessionId: string): void {
    const held = this.#held.get(sessionId);
    this.#held.delete(sessionId);
    for (const cut of held ?? []) cut();
  }

  async #ask(key: string, ...args: Parameters<VisitorSessions['find']>): Promise<VisitorSession | NoSession> {
    for (;;) {
      const ends = this.#ends;
      const asked = this.#options.sessions.find(...args);
      const found = await asked.finally(() => this.#asked.delete(key));
      if (typeof found === 'string') return found;
      // A session that ended meanwhile must neither be kept nor let in.
      if (ends !== this.#ends) continue;
      this.#known.set(key, found);
      return found;
    }
  }
}

function sizeOf({ accessToken, refreshToken, idToken, name, email }: VisitorSession, key: string): number {
  return key.length + [accessToken, refreshToken, idToken, name, email].reduce((sum, { length }) => sum + length, 200);
}

// API key → caller.

import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { isId } from '../store/ids.ts';
import type { App, Caller } from './context.ts';
import { ApiError } from './errors.ts';

const KEY_FORM = /^[\x21-\x7e]{16,256}$/;
const CALLERS_MAX = 10_000;
/** How long a key is trusted without asking the database again, where no change can be missed. */
const TRUST_MS = 5000;

/** Whether changes made by other processes are heard at once. Where they may be missed, nothing is kept. */
export type Hearing = () => boolean;

/**
 * Tells who is calling. A key that was accepted is remembered for five seconds and forgotten at once when any API
 * key or owner of its account changes, so that a revoked key is refused from the next request on.
 */
export class Authenticator {
  readonly #app: App;
  readonly #hearing: Hearing;
  readonly #known: LRUCache<string, Caller>;
  /** Counts how often everything was forgotten: what was read before must not be remembered after. */
  #generation = 0;

  constructor(app: App, hearing: Hearing) {
    this.#app = app;
    this.#hearing = hearing;
    this.#known = new LRUCache({ max: CALLERS_MAX, ttl: TRUST_MS, perf: { now: () => app.now() } });
    app.changes.listen(({ kind }) => {
      if (kind === 'apiKey' || kind === 'user' || kind === 'botUser') this.forget();
    });
  }

  forget(): void {
    this.#generation++;
    this.#known.clear();
  }

  /**
   * @returns the caller, or the error to show to whoever asks for more than a stranger may have.
   * @throws when the database cannot be asked.
   */
  async caller({ headers }: IncomingMessage): Promise<Caller | ApiError> {
    const { authorization } = headers;
    if (authorization === undefined) return new ApiError('noApiKey');
    const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (key === undefined) return new ApiError('unreadableAuthorization');
    if (isId('ak', key)) return new ApiError('idAsApiKey');
    if (!KEY_FORM.test(key)) return new ApiError('notAnApiKey');

    const digest = this.#app.keys.digest(key);
    const known = this.#known.get(digest);
    if (known) return known;
    return this.#look(key, digest);
  }

  async #look(key: string, digest: string): Promise<Caller | ApiError> {
    const { prisma, keys } = this.#app;
    const digests = keys.digests(key);
    const generation = this.#generation;
    const row = await prisma.apiKey.findFirst({
      where: { digest: { in: digests } },
      select: {
        id: true,
        accountId: true,
        ownerId: true,
        digest: true,
        owner: { select: { active: true, role: true } },
      },
    });
    if (!row) {
      const authtoken = await prisma.credential.findFirst({ where: { digest: { in: digests } }, select: { id: true } });
      return new ApiError(authtoken ? 'authtokenAsApiKey' : 'unknownApiKey');
    }
    if (!row.owner.active) return new ApiError('unknownApiKey');
    if (row.digest !== digest) await prisma.apiKey.update({ where: { id: row.id }, data: { digest } }); // The server key was rotated.

    const caller = {
      accountId: row.accountId,
      ownerId: row.ownerId,
      keyId: row.id,
      isAdmin: row.owner.role === 'ADMIN',
    };
    if (this.#hearing() && generation === this.#generation) this.#known.set(digest, caller);
    return caller;
  }
}

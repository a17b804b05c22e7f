// API key, or browser session → caller.

import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { isId } from '../store/ids.ts';
import { isToken } from '../store/sign-in/secrets.ts';
import { signedIn } from '../store/sign-in/sessions.ts';
import type { App, Caller } from './context.ts';
import { ApiError } from './errors.ts';

const KEY_FORM = /^[\x21-\x7e]{16,256}$/;
const CALLERS_MAX = 10_000;
/** How long a key or a session is trusted without asking the database again, where no change can be missed. */
const TRUST_MS = 5000;
/** What a caller's rights hang on. */
const KINDS = new Set(['apiKey', 'browserSession', 'user', 'botUser']);

/** Whether changes made by other processes are heard at once. Where they may be missed, nothing is kept. */
export type Hearing = () => boolean;

/**
 * Tells who is calling. A key that was accepted is remembered for five seconds and forgotten at once when any API
 * key, browser session or owner of its account changes, so that a revoked key is refused from the next request on.
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
      if (KINDS.has(kind)) this.forget();
    });
  }

  forget(): void {
    this.#generation++;
    this.#known.clear();
  }

  /**
   * By the API key alone.
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
    const caller = await this.#remembered(`key ${digest}`, () => this.#look(key, digest));
    if (!(caller instanceof ApiError) && caller.keyId !== undefined) this.#app.keyUse.used(caller.keyId);
    return caller;
  }

  /** By the token of a browser session. Otherwise as `caller`. */
  async browser(token: string): Promise<Caller | ApiError> {
    const { prisma, keys, now } = this.#app;
    if (!isToken(token)) return new ApiError('sessionOver');
    return this.#remembered(`browser ${keys.digest(token)}`, async () => {
      const session = await signedIn(prisma, keys, token, now());
      if (!session) return new ApiError('sessionOver');
      const { id: sessionId, accountId, ownerId, isAdmin } = session;
      return { accountId, ownerId, sessionId, isAdmin };
    });
  }

  async #remembered(what: string, look: () => Promise<Caller | ApiError>): Promise<Caller | ApiError> {
    const known = this.#known.get(what);
    if (known) return known;
    const generation = this.#generation;
    const caller = await look();
    const isSure = !(caller instanceof ApiError) && this.#hearing() && generation === this.#generation;
    if (isSure) this.#known.set(what, caller);
    return caller;
  }

  async #look(key: string, digest: string): Promise<Caller | ApiError> {
    const { prisma, keys } = this.#app;
    const digests = keys.digests(key);
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
    const { id: keyId, accountId, ownerId, owner } = row;
    return { accountId, ownerId, keyId, isAdmin: owner.role === 'ADMIN' };
  }
}

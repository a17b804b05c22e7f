// API key, or browser session → caller.

import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { boundedTo } from '../../runtime/lru-bound.ts';
import { isId } from '../../store/ids.ts';
import { isToken } from '../../store/sign-in/secrets.ts';
import { authenticateSession, type SessionProof } from '../../store/sign-in/sessions.ts';
import type { ApiApp, Caller } from '../context.ts';
import type { ErrorRow } from '../errors/error-row.ts';
import { ApiError } from '../errors/errors.ts';
import type { AnonymousRateLimit } from './anonymous-rate-limit.ts';

const API_KEY_PATTERN = /^[\x21-\x7e]{16,256}$/;
const CALLERS_MAX = 10_000;
const REJECTIONS_MAX = 10_000;
/** How long a key or a session is trusted without asking the database again, where no change can be missed. */
const CACHE_TTL_MS = 5000;
/** Of so many it is remembered that they were valid once: their look-ups are never put off. */
const SEEN_VALID_MAX = 10_000;
/** What a caller's rights hang on. */
const RELEVANT_KINDS = new Set(['apiKey', 'browserSession', 'user', 'botUser']);

/** Whether changes made by other processes are heard at once. Where they may be missed, nothing is kept. */
export type IsChangeFeedConnected = () => boolean;

/**
 * Tells who is calling. A key that was accepted is remembered for five seconds and forgotten at once when any API
 * key, browser session or owner of its account changes, so that a revoked key is refused from the next request on.
 */
export class Authenticator {
  readonly #app: ApiApp;
  readonly #isChangeFeedConnected: IsChangeFeedConnected;
  readonly #anonymousLimit: AnonymousRateLimit;
  readonly #callers: LRUCache<string, Caller>;
  /** Why others are refused, which may be sent again and again. Apart, so that they push out none that is valid. */
  readonly #rejections: LRUCache<string, ErrorRow>;
  readonly #seenValid = new LRUCache<string, true>(boundedTo(SEEN_VALID_MAX));
  /** Counts how often everything was forgotten: what was read before must not be remembered after. */
  #generation = 0;

  constructor(app: ApiApp, isChangeFeedConnected: IsChangeFeedConnected, anonymousLimit: AnonymousRateLimit) {
    this.#app = app;
    this.#isChangeFeedConnected = isChangeFeedConnected;
    this.#anonymousLimit = anonymousLimit;
    const kept = { ttl: CACHE_TTL_MS, perf: { now: () => app.now() } };
    this.#callers = new LRUCache({ ...kept, max: CALLERS_MAX });
    this.#rejections = new LRUCache({ ...kept, ...boundedTo(REJECTIONS_MAX) });
    app.changes.listen(({ kind }) => {
      if (RELEVANT_KINDS.has(kind)) this.forgetCallers();
    });
  }

  forgetCallers(): void {
    this.#generation++;
    this.#callers.clear();
    this.#rejections.clear();
  }

  /**
   * By the API key alone.
   * @param ip the address of who sent it: one that sends many unknown keys has few of them looked up.
   * @returns the caller, or the error to show to whoever asks for more than a stranger may have.
   * @throws when the database cannot be asked.
   */
  async callerByKey({ headers }: IncomingMessage, ip: string): Promise<Caller | ApiError> {
    const { authorization } = headers;
    if (authorization === undefined) return new ApiError('noApiKey');
    const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    if (key === undefined) return new ApiError('unreadableAuthorization');
    if (isId('ak', key)) return new ApiError('idAsApiKey');
    if (!API_KEY_PATTERN.test(key)) return new ApiError('notAnApiKey');

    const digest = this.#app.keys.digest(key);
    const caller = await this.#cachedCaller(`key ${digest}`, ip, () => this.#findApiKey(key, digest));
    if (caller instanceof ApiError) return caller;
    if (caller.keyExpiresAt !== undefined && caller.keyExpiresAt <= this.#app.now())
      return new ApiError('apiKeyExpired');
    if (caller.keyId !== undefined) this.#app.apiKeyUsage.recordUse(caller.keyId);
    return caller;
  }

  /**
   * By a browser session: by its cookie and by the secret of its page, as devices on other ports of this host get the
   * cookie, too. Otherwise as `callerByKey`.
   */
  async callerBySession(proof: SessionProof, ip: string): Promise<Caller | ApiError> {
    const { prisma, keys, now } = this.#app;
    const { token, pageSecret } = proof;
    if (!isToken(token) || !isToken(pageSecret)) return new ApiError('sessionOver');
    return this.#cachedCaller(`browser ${keys.digest(token)} ${keys.digest(pageSecret)}`, ip, async () => {
      const session = await authenticateSession(prisma, keys, proof, now());
      if (!session) return new ApiError('sessionOver');
      const { id: sessionId, ...owner } = session;
      return { ...owner, sessionId };
    });
  }

  async #cachedCaller(what: string, ip: string, lookUp: () => Promise<Caller | ApiError>): Promise<Caller | ApiError> {
    const known = this.#callers.get(what);
    if (known) return known;
    const refused = this.#rejections.get(what);
    if (refused) return new ApiError(refused);
    if (!this.#seenValid.has(what)) this.#anonymousLimit.checkLookup(ip);
    const generation = this.#generation;
    const caller = await lookUp();
    const isSure = this.#isChangeFeedConnected() && generation === this.#generation;
    if (caller instanceof ApiError) {
      if (isSure) this.#rejections.set(what, caller.row);
      return caller;
    }
    this.#seenValid.set(what, true);
    if (isSure) this.#callers.set(what, caller);
    return caller;
  }

  async #findApiKey(key: string, digest: string): Promise<Caller | ApiError> {
    const { prisma, keys } = this.#app;
    const digests = keys.digests(key);
    const row = await prisma.apiKey.findFirst({
      where: { digest: { in: digests } },
      select: {
        id: true,
        accountId: true,
        ownerId: true,
        digest: true,
        scopes: true,
        expiresAt: true,
        owner: { select: { active: true, role: true, subject: true } },
      },
    });
    if (!row) {
      const authtoken = await prisma.credential.findFirst({ where: { digest: { in: digests } }, select: { id: true } });
      return new ApiError(authtoken ? 'authtokenAsApiKey' : 'unknownApiKey');
    }
    if (!row.owner.active) return new ApiError('unknownApiKey');
    if (row.digest !== digest) await prisma.apiKey.update({ where: { id: row.id }, data: { digest } }); // The server key was rotated.
    const { id: keyId, accountId, ownerId, owner, scopes, expiresAt } = row;
    const caller = { accountId, ownerId, subject: owner.subject, keyId, isAdmin: owner.role === 'ADMIN', scopes };
    return expiresAt === null ? caller : { ...caller, keyExpiresAt: expiresAt.getTime() };
  }
}

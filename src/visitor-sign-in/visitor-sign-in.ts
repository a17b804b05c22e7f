// Signs visitors of endpoints in at identity providers: begins log-ins, finishes them, and has their sessions.

import { LRUCache } from 'lru-cache';
import type {
  BegunSignIn,
  FinishedSignIn,
  SignInFailure,
  SignInPlace,
  SignInTerms,
  VisitorSessions,
} from '../http/visitor-sessions.ts';
import { siteOf } from '../http/visitor-sessions.ts';
import { RateLimiter } from '../policy/rate-limiter.ts';
import { boundedTo } from '../runtime/lru-bound.ts';
import { spendChallenge } from '../store/sign-in/passkeys.ts';
import { beginAppSession, findAppSession } from '../store/visitors/app-session-rows.ts';
import { usesSharedCallback } from '../store/visitors/shared-callbacks.ts';
import { addressBlock } from '../tunnel/network/peer.ts';
import {
  beginAttempt,
  findAttempt,
  HAND_OVER_MAX_MS,
  LOGIN_MAX_MS,
  type LoginAttempt,
  openAnswer,
} from './attempts.ts';
import { CALLBACK_PATH, callbackPath } from './callback-address.ts';
import { signInFailureOf } from './failures.ts';
import { fingerprint, isOf, type LiveSessionDeps, LiveSessions } from './live-sessions.ts';
import { openContent, sealContent } from './session-content.ts';

const WARNED_MAX = 10_000;
/** How many answers of one address are looked at in a minute: each ends a log-in, which is remembered for 15 minutes. */
const ANSWERS_MAX = { capacity: 300, windowMs: 60_000 };

/** What log-ins are made with. */
export interface VisitorSignInDeps extends LiveSessionDeps {
  /** The URL of the API, below which providers send visitors back. */
  baseUrl(): string;
}

export class VisitorSignIn implements VisitorSessions {
  readonly #deps: VisitorSignInDeps;
  readonly #sessions: LiveSessions;
  /** The callbacks of which it was said that they are to be registered. */
  readonly #warned = new LRUCache<string, true>(boundedTo(WARNED_MAX));
  readonly #answers: RateLimiter;
  readonly find: LiveSessions['find'];
  readonly ended: LiveSessions['ended'];
  readonly close: LiveSessions['close'];

  constructor(deps: VisitorSignInDeps) {
    this.#deps = deps;
    this.#sessions = new LiveSessions(deps);
    this.#answers = new RateLimiter(ANSWERS_MAX, deps.now);
    this.find = (...args) => this.#sessions.find(...args);
    this.ended = (ids) => this.#sessions.ended(ids);
    this.close = () => this.#sessions.close();
  }

  async begin(
    terms: SignInTerms,
    place: SignInPlace,
    path: string,
    isForced: boolean,
  ): Promise<BegunSignIn | SignInFailure> {
    const { accountId, origin } = place;
    if (!(await this.#sessions.mayShare(terms, place))) return notReserved(terms);
    const { keys, now, providerOf, baseUrl } = this.#deps;
    const { issuer } = terms;
    const isShared = await this.#usesSharedCallback(accountId, issuer);
    const callbackUrl = baseUrl() + (isShared ? CALLBACK_PATH : callbackPath(accountId, issuer));
    const begun = beginAttempt(keys, { accountId, origin, path, callbackUrl, terms, at: now() }, isShared);
    if (!begun) return { error: 'signInMisconfigured', reason: 'the settings of the action are too long for a cookie' };
    try {
      const url = await providerOf(terms).authorizationUrl(terms, begun.attempt, isForced);
      return { url, attempt: begun.sealed };
    } catch (error) {
      return signInFailureOf(error);
    }
  }

  /** The first time in this process, the log says what is to be registered instead. */
  async #usesSharedCallback(accountId: string, issuer: string): Promise<boolean> {
    const { prisma, log, baseUrl } = this.#deps;
    if (!(await usesSharedCallback(prisma, { accountId, issuer }))) return false;
    const path = callbackPath(accountId, issuer);
    if (!this.#warned.has(path))
      log.warn(
        { accountId, issuer, register: baseUrl() + path },
        'visitors sign in by the callback address that all accounts share, which the next release does not answer: register ' +
          'the new one at the provider, then end the use of the shared one',
      );
    this.#warned.set(path, true);
    return true;
  }

  async finish(
    answer: string,
    attempts: readonly string[],
    place: SignInPlace,
  ): Promise<FinishedSignIn | SignInFailure> {
    const { prisma, keys, now } = this.#deps;
    const handedOver = openAnswer(keys, answer);
    if (!handedOver) return { error: 'signInStateInvalid', reason: 'the callback has not handed this over' };
    const late = { error: 'signInLate', reason: 'the log-in took too long' } as const;
    if (now() - handedOver.at > LOGIN_MAX_MS) return late; // No answer to it would do any more.
    // Anybody can begin log-ins and bring the answers.
    if (this.#answers.take(addressBlock(place.ip)) > 0)
      return { error: 'rateLimited', reason: 'too many answers to log-ins come from this address' };
    if (!(await spendChallenge(prisma, handedOver.id, now() + LOGIN_MAX_MS)))
      return { error: 'signInRepeated', reason: 'an answer to this log-in has come already' };
    if (handedOver.origin !== place.origin)
      return { error: 'signInElsewhere', reason: `the log-in was begun at ${handedOver.origin}` };
    const found = findAttempt(keys, attempts, handedOver.id);
    if (!found) return { error: 'signInNotBegun', reason: 'the browser has no cookie of this log-in' };
    const { attempt } = found;
    if (attempt.accountId !== place.accountId || attempt.origin !== place.origin)
      return { error: 'signInElsewhere', reason: 'the log-in was begun at an endpoint of another account' };
    if (now() - attempt.at > LOGIN_MAX_MS || now() - handedOver.at > HAND_OVER_MAX_MS) return late;
    if (!(await this.#sessions.mayShare(attempt.terms, place))) return notReserved(attempt.terms);
    return this.#redeem(attempt, handedOver.query, place, found.place);
  }

  async #redeem(
    attempt: LoginAttempt,
    query: string,
    place: SignInPlace,
    cookie: number,
  ): Promise<FinishedSignIn | SignInFailure> {
    const { keys, providerOf } = this.#deps;
    const { terms } = attempt;
    let content: Awaited<ReturnType<ReturnType<typeof providerOf>['redeem']>>;
    try {
      content = await providerOf(terms).redeem(terms, attempt, query);
    } catch (error) {
      return signInFailureOf(error);
    }
    const { accountId, endpointId, publicUrl, ip, userAgent } = place;
    const { token } = await beginAppSession(this.#deps, {
      ...{ accountId, endpointId, publicUrl, ip, userAgent },
      user: { issuer: terms.issuer, ...content.identity },
      site: siteOf(terms, place.origin),
      terms: fingerprint(keys, terms),
      seal: (id) => sealContent(keys, id, content),
      idleMs: terms.idleMs,
      maxMs: terms.maxMs,
    });
    return { terms, token, path: attempt.path, maxAge: Math.floor(terms.maxMs / 1000), attempt: cookie };
  }

  async end(token: string, terms: SignInTerms, place: SignInPlace): Promise<string | undefined> {
    const { keys, log, providerOf } = this.#deps;
    const row = await findAppSession(this.#deps, token, place.accountId);
    if (!row || !isOf(keys, row, terms, place)) return undefined;
    await this.#sessions.end(row.id, row.accountId);
    try {
      return await providerOf(terms).endSessionUrl(terms, openContent(keys, row).tokens);
    } catch (error) {
      log.info(
        { sessionId: row.id, reason: signInFailureOf(error).reason },
        'the provider cannot be asked to sign out',
      );
      return undefined;
    }
  }
}

function notReserved({ cookieDomain }: SignInTerms): SignInFailure {
  const reason = `auth_cookie_domain ${cookieDomain} is neither a reserved domain of the account nor below one`;
  return { error: 'signInMisconfigured', reason };
}

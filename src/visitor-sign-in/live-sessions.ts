// Finds the sessions of visitors, ends those whose time is over, and renews what is in them: under a lease, as a provider that
// rotates its refresh tokens takes a second use of one for a theft.

import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import {
  type NoSession,
  type SignInFailure,
  type SignInPlace,
  type SignInTerms,
  siteOf,
  type VisitorSession,
} from '../http/visitor-sessions.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { boundedTo } from '../runtime/lru-bound.ts';
import { waitAtMost } from '../runtime/wait-at-most.ts';
import { hasReservationCovering } from '../store/domains/reservations.ts';
import type { Keys } from '../store/keys/keys.ts';
import {
  type AppSessionDeps,
  endAppSessions,
  type FoundAppSession,
  findAppSession,
  storeRenewal,
  takeRenewal,
  touchAppSession,
  whereAlive,
} from '../store/visitors/app-session-rows.ts';
import { updateAppUser } from '../store/visitors/app-users.ts';
import { endsSession, renewalFailureOf } from './failures.ts';
import { FETCH_TIMEOUT_MS } from './guarded-fetch.ts';
import type { Provider } from './provider.ts';
import { openContent, type SessionContent, sealContent, shownSession } from './session-content.ts';

/** How long a session is used without being asked for again; milliseconds. */
const USABLE_MS = 10_000;
/** How long what could not be renewed is used, also while another process renews it; milliseconds. */
const RETRY_MS = 2000;
/** How long requests wait for a renewal. Then what there is counts, and the renewal goes on for later ones; milliseconds. */
const PROMPT_MS = 2000;
/** How long no request waits for a provider that has not answered promptly, in milliseconds. */
const SLOW_MS = 30_000;
const SLOW_PROVIDERS_MAX = 1000;
/** The time of the last use is stored at most this often, in milliseconds, and more often where the limit without use is short. */
const TOUCH_MS = 60_000;
/** Longer than all that one renewal fetches: it has a description, a token and the user info to wait for. */
const LEASE_MS = 4 * FETCH_TIMEOUT_MS;

/** What sessions are found with. */
export interface LiveSessionDeps extends AppSessionDeps {
  /** Below it, all accounts have names. */
  baseDomain: string;
  log: Logger;
  /** The provider of an action's settings. */
  providerOf(terms: SignInTerms): Provider;
}

export class LiveSessions {
  readonly #deps: LiveSessionDeps;
  /** Renewals under way in this process, by the ids of sessions. */
  readonly #renewing = new Map<string, Promise<Renewed>>();
  /** When providers were last not prompt, by `providerKey`: the wall clock. */
  readonly #slowAt = new LRUCache<string, number>(boundedTo(SLOW_PROVIDERS_MAX));

  constructor(deps: LiveSessionDeps) {
    this.#deps = deps;
  }

  /** As `VisitorSessions` has it. */
  async find(token: string, terms: SignInTerms, place: SignInPlace): Promise<VisitorSession | NoSession> {
    const { keys, now } = this.#deps;
    const row = await findAppSession(this.#deps, token, place.accountId);
    // A session of another host, or of other settings, is none here.
    if (!row || !isOf(keys, row, terms, place) || !(await this.mayShare(terms, place))) return 'unknown';
    const expiresAt = Math.min(row.expiresAt.getTime(), row.createdAt.getTime() + terms.maxMs);
    const idleEndsAt = Math.min(row.idleEndsAt.getTime(), row.lastActiveAt.getTime() + terms.idleMs);
    const over = now() >= expiresAt ? 'expired' : now() >= idleEndsAt ? 'idle' : undefined;
    if (over) {
      await this.end(row.id, row.accountId);
      return over;
    }
    const digest = keys.digest(token);
    const isToTouch = now() - row.lastActiveAt.getTime() >= Math.min(TOUCH_MS, terms.idleMs / 10);
    if (isToTouch || row.digest !== digest) {
      const keyed = { digest, terms: fingerprint(keys, terms) };
      await touchAppSession(this.#deps, row, keyed, terms.idleMs);
    }
    const content = this.#open(row);
    if (!content) {
      await this.end(row.id, row.accountId);
      return 'unknown';
    }
    const checkedAt = row.checkedAt.getTime();
    const due = dueAt(content, checkedAt, terms);
    const limit = Math.min(expiresAt, now() + terms.idleMs);
    if (now() < due)
      return shownSession(row, content, { wasChecked: false, usableUntil: Math.min(now() + USABLE_MS, limit, due) });
    const renewed = await this.#renewPromptly(row, content, terms);
    if (renewed === 'revoked') return renewed;
    const usableUntil = Math.min(now() + (renewed.isDone ? USABLE_MS : RETRY_MS), limit);
    const { wasChecked, failure } = renewed;
    return shownSession(row, renewed.content, { wasChecked, usableUntil, ...(failure && { failure }) });
  }

  /** Whether sessions may be valid at all hosts of the domain that the terms name: only below what the account has reserved. */
  async mayShare({ cookieDomain }: SignInTerms, { accountId }: SignInPlace): Promise<boolean> {
    const { prisma, baseDomain } = this.#deps;
    return cookieDomain === undefined || hasReservationCovering(prisma, accountId, cookieDomain, baseDomain);
  }

  /** Ends a session. @returns whether there was one. */
  async end(id: string, accountId: string): Promise<boolean> {
    const { prisma, changes } = this.#deps;
    const ended = await changes.transaction(prisma, (tx, announce) => endAppSessions(tx, announce, { id, accountId }));
    return ended.length > 0;
  }

  /** @returns those of the sessions that are over. */
  async ended(ids: readonly string[]): Promise<string[]> {
    const { prisma, now } = this.#deps;
    const where = { id: { in: [...ids] }, ...whereAlive(now()) };
    const alive = new Set((await prisma.appSession.findMany({ where, select: { id: true } })).map(({ id }) => id));
    return ids.filter((id) => !alive.has(id));
  }

  /** Lets renewals end that no request waits for: what a provider gives for a refresh token, it may give once. */
  async close(): Promise<void> {
    await waitAtMost(PROMPT_MS, Promise.allSettled(this.#renewing.values()));
  }

  /** What is in a session; undefined when it was sealed with a server key that is not here. */
  #open(row: FoundAppSession): SessionContent | undefined {
    const { keys, log } = this.#deps;
    try {
      return openContent(keys, row);
    } catch (error) {
      log.warn({ sessionId: row.id, err: describeFailure(error) }, 'a session of a visitor cannot be opened, and ends');
      return undefined;
    }
  }

  /** Renews a session; where the provider is not prompt, the session goes on as it is, and what comes later is stored. */
  async #renewPromptly(row: FoundAppSession, content: SessionContent, terms: SignInTerms): Promise<Renewed> {
    const renewal = this.#renewOnce(row, content, terms);
    const renewed = this.#isSlow(terms) ? undefined : await waitAtMost(PROMPT_MS, renewal);
    if (renewed) return renewed;
    const failure = { error: 'signInUnavailable', reason: 'the provider does not answer promptly' } as const;
    return { content, wasChecked: false, isDone: false, failure };
  }

  /** Requests that come at once wait for one renewal. */
  #renewOnce(row: FoundAppSession, content: SessionContent, terms: SignInTerms): Promise<Renewed> {
    const underWay = this.#renewing.get(row.id);
    if (underWay) return underWay;
    const renewal = this.#renew(row, content, terms).finally(() => this.#renewing.delete(row.id));
    this.#renewing.set(row.id, renewal);
    const { log } = this.#deps;
    renewal.catch((error) =>
      log.error({ err: describeFailure(error) }, "the renewal of a visitor's session has failed"),
    );
    return renewal;
  }

  /** Notes whether the answers of a provider come promptly. */
  #timed(terms: SignInTerms, answers: Promise<void>): Promise<void> {
    const key = providerKey(terms);
    let isPrompt = true;
    const late = setTimeout(() => {
      isPrompt = false;
      this.#slowAt.set(key, this.#deps.now());
    }, PROMPT_MS);
    return answers.finally(() => {
      clearTimeout(late);
      if (isPrompt) this.#slowAt.delete(key);
    });
  }

  #isSlow(terms: SignInTerms): boolean {
    const age = this.#deps.now() - (this.#slowAt.get(providerKey(terms)) ?? Number.NEGATIVE_INFINITY);
    return age >= 0 && age < SLOW_MS; // A clock that was ahead must not keep it slow.
  }

  async #renew(row: FoundAppSession, content: SessionContent, terms: SignInTerms): Promise<Renewed> {
    const { keys, log, now } = this.#deps;
    // Another process has the lease, or has renewed it since the row was read: what was read is used until that can be seen.
    if (!(await takeRenewal(this.#deps, row, LEASE_MS))) return { content, wasChecked: false, isDone: false };
    const provider = this.#deps.providerOf(terms);
    const { subject } = content.identity;
    let renewed = content;
    let checkedAt = row.checkedAt;
    const ask = async () => {
      if (isExpired(content, now()))
        renewed = { ...content, tokens: await provider.refresh(terms, content.tokens, subject) };
      if (isUnchecked(checkedAt.getTime(), terms, now())) {
        const identity = await provider.userInfo(terms, renewed.tokens, subject);
        renewed = { ...renewed, identity: identity ?? renewed.identity };
        checkedAt = new Date(now());
      }
    };
    try {
      await this.#timed(terms, ask());
    } catch (error) {
      const { id, accountId } = row;
      log.info({ sessionId: id, accountId, err: describeFailure(error) }, 'a session of a visitor cannot be renewed');
      if (endsSession(error)) {
        await this.end(id, accountId);
        return 'revoked';
      }
      await storeRenewal(this.#deps, row, renewed === content ? {} : { sealed: sealContent(keys, id, renewed) });
      return { content: renewed, wasChecked: false, isDone: false, failure: renewalFailureOf(error) };
    }
    const isStored = await storeRenewal(this.#deps, row, { sealed: sealContent(keys, row.id, renewed), checkedAt });
    if (!isStored) return 'revoked'; // Somebody has ended it meanwhile.
    const { name, email } = renewed.identity;
    await updateAppUser(this.#deps.prisma, row.userId, { name, email });
    return { content: renewed, wasChecked: checkedAt !== row.checkedAt, isDone: true };
  }
}

/** What came of a renewal. `isDone`: all that was due. */
type Renewed = { content: SessionContent; wasChecked: boolean; isDone: boolean; failure?: SignInFailure } | 'revoked';

const providerKey = ({ issuer, clientId }: SignInTerms) => JSON.stringify([issuer, clientId]);

/** What tells the settings apart that a session is bound to, keyed, as one of them is a secret. */
export function fingerprint(keys: Keys, terms: SignInTerms): string {
  return keys.digest(boundTerms(terms));
}

/** Whether a session is of these settings, and valid at a place. */
export function isOf(
  keys: Keys,
  row: Pick<FoundAppSession, 'site' | 'terms'>,
  terms: SignInTerms,
  { origin }: Pick<SignInPlace, 'origin'>,
): boolean {
  return row.site === siteOf(terms, origin) && keys.digests(boundTerms(terms)).includes(row.terms);
}

/** Who knows the client but not its secret must not read what visitors have let the client know. */
function boundTerms({ issuer, isOAuth, clientId, clientSecret, authId, cookieDomain = '' }: SignInTerms): string {
  return JSON.stringify(['visitor session', issuer, isOAuth, clientId, clientSecret, authId, cookieDomain]);
}

function isExpired({ tokens }: SessionContent, now: number): boolean {
  return tokens.refreshToken !== '' && tokens.accessExpiresAt !== undefined && now >= tokens.accessExpiresAt;
}

function isUnchecked(checkedAt: number, { checkMs }: SignInTerms, now: number): boolean {
  return checkMs !== undefined && now >= checkedAt + checkMs;
}

/** When something in it is to be renewed: the wall clock, in milliseconds. */
function dueAt({ tokens }: SessionContent, checkedAt: number, { checkMs }: SignInTerms): number {
  const { refreshToken, accessExpiresAt = Number.POSITIVE_INFINITY } = tokens;
  return Math.min(
    refreshToken === '' ? Number.POSITIVE_INFINITY : accessExpiresAt,
    checkMs === undefined ? Number.POSITIVE_INFINITY : checkedAt + checkMs,
  );
}

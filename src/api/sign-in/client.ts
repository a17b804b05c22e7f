// Who sent a request, as far as signing in has to know, and what it is sent back for it.

import { PASSKEY_COOKIE, SESSION_COOKIE } from '../../edge/codec/own-cookies.ts';
import type { ApiClient } from '../dependencies.ts';
import { ApiError } from '../errors/errors.ts';
import type { ApiExchange, SignInLogEntry } from '../exchange.ts';
import { readCookie, type SignInCookie, writeCookie } from './cookie.ts';
import { isFromDashboard } from './dashboard-request.ts';

const USER_AGENT_MAX = 512;

/** The other end of one request. */
export class ExchangeClient implements ApiClient {
  readonly #exchange: ApiExchange;
  readonly #cookies = new Map<SignInCookie, string>();
  /** The browser session that the answer begins; undefined when it begins none. */
  sessionId: string | undefined;

  constructor(exchange: ApiExchange) {
    this.#exchange = exchange;
  }

  /** Its address; behind a trusted proxy, what that says. */
  get ip(): string {
    return this.#exchange.clientIp;
  }

  /** Whether it is on this machine. */
  get isLoopback(): boolean {
    return this.#exchange.isLoopback;
  }

  get lastEventId(): string | undefined {
    const sent = this.#exchange.request.headers['last-event-id'];
    return sent === undefined ? undefined : String(sent);
  }

  get eventId(): string | undefined {
    return this.#exchange.eventId;
  }

  set eventId(id: string | undefined) {
    this.#exchange.eventId = id;
  }

  /** Hears when nobody waits for more of the answer. @returns what ends that. */
  onDisconnect(listener: () => void): () => void {
    const { response } = this.#exchange;
    response.once('close', listener);
    return () => response.off('close', listener);
  }

  get userAgent(): string {
    return (this.#exchange.request.headers['user-agent'] ?? '').slice(0, USER_AGENT_MAX);
  }

  /** Why nobody can sign in from there; null where one can. */
  get signInRefusal(): ApiError | null {
    const { isSecure, isLoopback } = this.#exchange;
    return isSecure || isLoopback ? null : new ApiError('signInNotOffered');
  }

  /** @throws {ApiError} when nobody may sign in by this request: others may listen, or another page may have sent it. */
  checkMaySignIn(): void {
    if (this.signInRefusal) throw this.signInRefusal;
    if (!isFromDashboard(this.#exchange)) throw new ApiError('dashboardOnly');
  }

  /** Gives the browser the token of its session, or takes it away: null. */
  setSession(session: { id: string; token: string } | null): void {
    this.sessionId = session?.id;
    this.#setCookie(SESSION_COOKIE, session?.token ?? null);
  }

  /** The sealed challenge for a passkey that the browser was given; undefined when it has none. */
  get passkeyChallenge(): string | undefined {
    return readCookie(this.#exchange.request.headers.cookie, PASSKEY_COOKIE);
  }

  /** Gives the browser a sealed challenge for a passkey, or takes it away: null. */
  setPasskeyChallenge(sealed: string | null): void {
    this.#setCookie(PASSKEY_COOKIE, sealed);
  }

  #setCookie(name: SignInCookie, value: string | null): void {
    this.#cookies.set(name, writeCookie(value, name));
    this.#exchange.response.setHeader('Set-Cookie', [...this.#cookies.values()]);
  }

  recordSignIn(signIn: SignInLogEntry): void {
    const { log } = this.#exchange;
    log.signIns = [...(log.signIns ?? []), { ...signIn, ip: this.ip }];
  }
}

// What both sign-in actions do with a request: a visitor with a session passes, others are sent to the provider.

import type { CelInput } from '@bufbuild/cel';
import type { HttpExchange } from '../../http/exchange.ts';
import type { Verdict } from '../../http/module.ts';
import {
  type HeldVisitorSessions,
  isSignInFailure,
  type NoSession,
  type SignInFailure,
  type SignInTerms,
  type VisitorSession,
} from '../../http/visitor-sessions.ts';
import type { ActionRun, ActionVerdict, CompiledAction, ConfigReader } from '../settings/action-kind.ts';
import { beginLogin, endLogin, loginAttempts, sessionCookie, sessionToken } from './cookies.ts';
import { isCrossSite, isNavigation, isPreflight, isSecure, ownPathOf, placeOf, returnPath } from './requests.ts';
import { redirect, signedOut } from './responses.ts';
import type { SignInSettings } from './terms.ts';

/** Whom rules see in a preflight. */
const NOBODY: VisitorSession = {
  ...{ id: '', userId: '', subject: '', name: '', email: '', idToken: '', accessToken: '', refreshToken: '' },
  ...{ accessExpiresAt: undefined, wasChecked: false, usableUntil: 0 },
};

/** How the two actions name what they say of a visitor. */
export interface SignInResults {
  /** The name of the variable: `actions.<name>`. */
  name: string;
  /** The member of the identity that has the id of the session. */
  sessionId: string;
  /** The member that says whether the provider was just asked. */
  wasChecked: string;
  hasIdToken: boolean;
}

/** Compiles a sign-in action. */
export function signInAction(config: ConfigReader, settings: SignInSettings, results: SignInResults): CompiledAction {
  const { visitorSessions: sessions } = config.environment;
  return {
    isTerminal: false,
    run(run) {
      const exchange = run.exchange as HttpExchange; // `on_http_request` always has an exchange.
      if (settings.passesPreflights && isPreflight(exchange.request)) {
        exchange.request.fields.remove('cookie'); // Browsers send none with a preflight.
        run.result(results.name, resultOf(NOBODY, results));
        return undefined;
      }
      const visit = visitOf(run, exchange, settings, sessions, results);
      return 'kind' in visit ? visit : settled(admit(visit));
    },
    answerOwnPath(run) {
      const exchange = run.exchange as HttpExchange;
      const path = ownPathOf(exchange.request.target);
      if (path === undefined) return undefined;
      const visit = visitOf(run, exchange, settings, sessions, results);
      if ('kind' in visit) return visit;
      if (exchange.request.method !== 'GET') return failed(refused('signInRequired', 'log-ins are begun by GET'));
      if (path === 'finish') return settled(finish(visit));
      if (isCrossSite(exchange.request)) return failed(refused('signInForged', `another site asked for ${path}`));
      return settled(path === 'login' ? login(visit) : logout(visit));
    },
  };
}

/** A request that comes to the action. */
interface SignInVisit {
  run: ActionRun;
  exchange: HttpExchange;
  terms: SignInTerms;
  sessions: HeldVisitorSessions;
  results: SignInResults;
}

function visitOf(
  run: ActionRun,
  exchange: HttpExchange,
  settings: SignInSettings,
  sessions: HeldVisitorSessions | undefined,
  results: SignInResults,
): SignInVisit | NonNullable<Verdict> {
  // A dry run has no visitors: it says what becomes of one who is not signed in.
  if (!sessions) return redirect(settings.terms(run.bindings).issuer, []);
  if (!isSecure(exchange))
    return { kind: 'refuse', error: 'signInInsecure', reason: 'browsers keep no session without TLS' };
  const terms = settings.terms(run.bindings);
  const visit = { run, exchange, terms, sessions, results };
  const host = new URL(placeOf(exchange).origin).hostname;
  const { cookieDomain: domain } = terms;
  if (terms.clientId === '') return failed(refused('signInClientRefused', 'client_id is empty'));
  if (domain !== undefined && host !== domain && !host.endsWith(`.${domain}`))
    return failed(refused('signInMisconfigured', `auth_cookie_domain ${domain} is not that of ${host}`));
  return visit;
}

function admit(visit: SignInVisit): ActionVerdict | Promise<ActionVerdict> {
  const { exchange, terms, sessions } = visit;
  const token = sessionToken(exchange.request, terms);
  if (token === undefined) return turnAway(visit, 'unknown');
  const found = sessions.find(token, terms, placeOf(exchange));
  return found instanceof Promise ? found.then((later) => decide(visit, later)) : decide(visit, found);
}

function decide(visit: SignInVisit, found: VisitorSession | NoSession): ActionVerdict | Promise<ActionVerdict> {
  if (typeof found === 'string') return turnAway(visit, found);
  const { run, exchange, sessions, results } = visit;
  run.result(results.name, resultOf(found, results));
  exchange.endWith?.((cut) => sessions.hold(found.id, cut));
  return undefined;
}

/** The visitor is not signed in: a page is sent to the provider, and what is none is refused. */
function turnAway(visit: SignInVisit, why: NoSession): ActionVerdict | Promise<ActionVerdict> {
  const { run, exchange, results } = visit;
  run.result(results.name, {
    session_timed_out: why === 'idle',
    session_max_duration_reached: why === 'expired',
    [results.wasChecked]: false,
  });
  if (isNavigation(exchange.request))
    return begin(visit, (exchange.request.received ?? exchange.request).target, false);
  return {
    kind: 'refuse',
    error: 'signInRequired',
    fields: [['WWW-Authenticate', 'Cookie realm="sign-in"']], // RFC 9110, section 11.6.1 wants one.
    reason: `the visitor is not signed in: ${NO_SESSION[why]}`,
  };
}

const NO_SESSION = {
  unknown: 'there is no session',
  idle: 'the session was not used for too long',
  expired: 'the session has reached its greatest age',
  revoked: 'the provider has ended the session',
} as const satisfies Record<NoSession, string>;

async function begin(visit: SignInVisit, path: string, isForced: boolean): Promise<ActionVerdict> {
  const { exchange, terms, sessions } = visit;
  const begun = await sessions.begin(terms, placeOf(exchange), returnPath(path), isForced);
  if (isSignInFailure(begun)) return failed(begun);
  return redirect(begun.url, [beginLogin(exchange.request, terms, begun.attempt)]);
}

/** A log-in that somebody asks for, also when signed in already: the provider asks for the password again. */
function login(visit: SignInVisit): Promise<ActionVerdict> {
  return begin(visit, parameter(visit, 'redirect_path') ?? '/', true);
}

async function logout(visit: SignInVisit): Promise<ActionVerdict> {
  const { exchange, terms, sessions } = visit;
  const token = sessionToken(exchange.request, terms);
  const elsewhere = token === undefined ? undefined : await sessions.end(token, terms, placeOf(exchange));
  return signedOut(elsewhere, [sessionCookie(terms, '', 0)]);
}

/** The provider has answered, and the callback has handed the answer over to the host where the log-in was begun. */
async function finish(visit: SignInVisit): Promise<ActionVerdict> {
  const { exchange, terms, sessions } = visit;
  const attempts = loginAttempts(exchange.request, terms);
  const finished = await sessions.finish(parameter(visit, 'answer') ?? '', attempts, placeOf(exchange));
  if (isSignInFailure(finished)) return failed(finished);
  const { token, path, maxAge, attempt } = finished;
  // A session that the browser had before, perhaps one that somebody has planted, is over.
  const before = sessionToken(exchange.request, terms);
  if (before !== undefined) await sessions.end(before, terms, placeOf(exchange));
  return redirect(path, [sessionCookie(terms, token, maxAge), endLogin(terms, attempt)]);
}

/** A parameter of the request's query; `auth_id` chooses among actions, of which there is one. */
function parameter({ exchange: { request } }: SignInVisit, name: string): string | undefined {
  return new URLSearchParams(request.target.replace(/^[^?]*\??/, '')).get(name) ?? undefined;
}

/** Whoever has the sessions may be away, as the database may; the reason is in the log. */
function settled(verdict: ActionVerdict | Promise<ActionVerdict>): ActionVerdict | Promise<ActionVerdict> {
  if (!(verdict instanceof Promise)) return verdict;
  return verdict.catch((error: unknown) =>
    failed(refused('signInAway', error instanceof Error ? error.message : String(error))),
  );
}

const refused = (error: SignInFailure['error'], reason: string): SignInFailure => ({ error, reason });

function failed({ error, reason }: SignInFailure): NonNullable<Verdict> {
  return { kind: 'refuse', error, reason };
}

function resultOf(session: VisitorSession, results: SignInResults): Record<string, CelInput> {
  const { userId, email, name, subject, accessExpiresAt } = session;
  return {
    identity: { id: userId, email, name, provider_user_id: subject, [results.sessionId]: session.id } as CelInput,
    ...(results.hasIdToken ? { identity_token: session.idToken } : {}),
    access_token: session.accessToken,
    refresh_token: session.refreshToken,
    expires_at: accessExpiresAt === undefined ? '' : new Date(accessExpiresAt).toISOString(),
    session_timed_out: false,
    session_max_duration_reached: false,
    [results.wasChecked]: session.wasChecked,
  };
}

// What becomes of requests where visitors sign in: those with a session pass, others are sent to the provider. The actions of policies
// and the modules of routes and tunnels are made of it.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { HttpExchange, HttpRequest } from '../../http/exchange.ts';
import { HeaderList } from '../../http/header-list.ts';
import type { Verdict } from '../../http/module.ts';
import { addVary } from '../../http/vary.ts';
import {
  type HeldVisitorSessions,
  isSignInFailure,
  type NoSession,
  type SignInFailure,
  type SignInTerms,
  type VisitorSession,
} from '../../http/visitor-sessions.ts';
import { beginLogin, endLogin, hasSessionCookie, loginCookies, sessionCookie, sessionToken } from './cookies.ts';
import { isNavigation, isPreflight, isSecure, ownPathOf, placeOf, returnPath, senderOf } from './requests.ts';
import { confirmation, redirect, signedOut } from './responses.ts';
import { signInReport } from './sign-in-report.ts';

/** Where visitors sign in, as it is for one request. */
export interface SignIn {
  terms: SignInTerms;
  /** Undefined: it is a dry run, which has no visitors. It says what becomes of one who is not signed in. */
  sessions: HeldVisitorSessions | undefined;
  /** Called for a visitor who is signed in. What it answers is what the visitor gets; undefined: the request goes on. */
  onVisitor(session: VisitorSession): Verdict;
  /** Called for a visitor who is not. */
  onNobody?(why: NoSession): void;
}

/** What the memory of an exchange has where its cookies have decided. */
const DECIDED_BY_COOKIES = {};

/** What a request without a session of its own gets; undefined: the visitor is signed in, and it goes on. */
export function admitVisitor(exchange: HttpExchange, signIn: SignIn): Verdict | Promise<Verdict> {
  exchange.memory.set(DECIDED_BY_COOKIES, true);
  const visit = visitOf(exchange, signIn);
  if ('kind' in visit) return visit;
  const { terms, sessions } = visit;
  const token = sessionToken(exchange.request, terms);
  if (token === undefined) return settled(turnAway(visit, 'unknown'));
  const found = sessions.find(token, terms, placeOf(exchange));
  return settled(found instanceof Promise ? found.then((later) => decide(visit, later)) : decide(visit, found));
}

/**
 * Tells shared caches that visitors with other cookies get something else, where `admitVisitor` was asked: a page of one visitor
 * must not be served to another, nor to one who is not signed in.
 * @param verdict of the response side of the module, whose answer takes the place of the response.
 */
export function varyByCookie<V extends Verdict>(exchange: HttpExchange, verdict: V): V {
  if (!exchange.memory.has(DECIDED_BY_COOKIES)) return verdict;
  if (verdict === undefined && exchange.response) addVary(exchange.response.fields, 'Cookie');
  if (verdict?.kind !== 'answer') return verdict;
  const fields = new HeaderList(verdict.fields);
  addVary(fields, 'Cookie');
  return { ...verdict, fields: fields.list };
}

/**
 * Answers requests for the gateway's own paths.
 * @returns undefined for other paths, and for what belongs to another sign-in of the same host.
 */
export function answerOwnPath(exchange: HttpExchange, signIn: SignIn): Verdict | Promise<Verdict> {
  const path = ownPathOf(exchange.request.target);
  if (path === undefined) return undefined;
  const visit = visitOf(exchange, signIn);
  if ('kind' in visit) return visit;
  const { request } = exchange;
  const { method } = request;
  if (method !== 'GET' && (method !== 'POST' || path === 'finish'))
    return failed(refused('signInRequired', 'log-ins are begun by GET'));
  if (path === 'finish') return settled(finish(visit));
  const sender = senderOf(request);
  if (sender === 'other') return failed(refused('signInForged', `another site asked for ${path}`));
  const hasSession = hasSessionCookie(request, visit.terms);
  if (path === 'logout' && !hasSession) return undefined;
  const act = path === 'login' ? login : logout;
  // Without a session, a log-in is what any page of the host begins.
  if (sender === 'own' || !hasSession) return settled(act(visit));
  return method === 'GET' ? askWhether(visit, path) : settled(actIfMeant(visit, path, act));
}

/** Nobody knows whether the visitor means it: the visitor is asked, on a page that no other site can fill in. */
function askWhether({ exchange, terms }: SignInVisit, path: 'login' | 'logout'): Verdict {
  const { request } = exchange;
  return confirmation(path, request.target, confirmationOf(sessionToken(request, terms) ?? '', path));
}

async function actIfMeant(
  visit: SignInVisit,
  path: 'login' | 'logout',
  act: (visit: SignInVisit) => Promise<Verdict>,
): Promise<Verdict> {
  const { request } = visit.exchange;
  const form = new URLSearchParams((await request.body())?.toString('latin1') ?? '');
  const said = Buffer.from(form.get('confirmation') ?? '');
  const expected = Buffer.from(confirmationOf(sessionToken(request, visit.terms) ?? '', path));
  if (said.length === expected.length && timingSafeEqual(said, expected)) return act(visit);
  return failed(refused('signInForged', `the form of ${path} has no valid confirmation`));
}

/** What the form of a confirmation has: it follows from the session's cookie, which no other origin can read. */
function confirmationOf(token: string, path: string): string {
  return createHmac('sha256', token).update(`confirmation: ${path}`).digest('base64url');
}

/** What is left of the gateway's own paths where no sign-in has taken them; undefined for other paths. */
export function answerLeftPath({ request }: HttpExchange): Verdict {
  const path = ownPathOf((request.received ?? request).target);
  if (path === undefined) return undefined;
  if (path === 'logout') return signedOut(undefined, []);
  return failed(refused('signInNotBegun', 'the browser has no cookie of this log-in'));
}

/** Lets a preflight of CORS pass, without cookies, as browsers send none with it. @returns whether it is one. */
export function passPreflight(request: HttpRequest): boolean {
  if (!isPreflight(request)) return false;
  request.fields.remove('cookie');
  return true;
}

/** A request that comes to a sign-in. */
interface SignInVisit extends SignIn {
  exchange: HttpExchange;
  sessions: HeldVisitorSessions;
}

function visitOf(exchange: HttpExchange, signIn: SignIn): SignInVisit | NonNullable<Verdict> {
  const { terms, sessions } = signIn;
  if (!sessions) return redirect(terms.issuer, []);
  if (!isSecure(exchange))
    return { kind: 'refuse', error: 'signInInsecure', reason: 'browsers keep no session without TLS' };
  const host = new URL(placeOf(exchange).origin).hostname;
  const { cookieDomain: domain } = terms;
  if (terms.clientId === '') return failed(refused('signInClientRefused', 'client_id is empty'));
  if (domain !== undefined && host !== domain && !host.endsWith(`.${domain}`))
    return failed(refused('signInMisconfigured', `auth_cookie_domain ${domain} is not that of ${host}`));
  return { ...signIn, exchange, sessions };
}

function decide(visit: SignInVisit, found: VisitorSession | NoSession): Verdict | Promise<Verdict> {
  if (typeof found === 'string') return turnAway(visit, found);
  const { exchange, sessions } = visit;
  const verdict = visit.onVisitor(found);
  report(visit, verdict ? 'deny' : 'allow', found);
  if (!verdict) exchange.endWith?.((cut) => sessions.hold(found.id, cut));
  return verdict;
}

function report(
  { exchange, terms: { clientId } }: SignInVisit,
  decision: 'allow' | 'deny',
  visitor: VisitorSession | undefined,
): void {
  signInReport.note(exchange.decisions, { decision, clientId, visitor });
}

/** The visitor is not signed in: a page is sent to the provider, and what is none is refused. */
function turnAway(visit: SignInVisit, why: NoSession): Verdict | Promise<Verdict> {
  const { request } = visit.exchange;
  visit.onNobody?.(why);
  report(visit, 'deny', undefined);
  if (isNavigation(request)) return begin(visit, (request.received ?? request).target, false);
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

async function begin({ exchange, terms, sessions }: SignInVisit, path: string, isForced: boolean): Promise<Verdict> {
  const begun = await sessions.begin(terms, placeOf(exchange), returnPath(path), isForced);
  if (isSignInFailure(begun)) return failed(begun);
  return redirect(begun.url, [beginLogin(exchange.request, terms, begun.attempt)]);
}

/** A log-in that somebody asks for, also when signed in already: the provider asks for the password again. */
function login(visit: SignInVisit): Promise<Verdict> {
  return begin(visit, ownPathParameter(visit.exchange.request.target, 'redirect_path') ?? '/', true);
}

async function logout({ exchange, terms, sessions }: SignInVisit): Promise<Verdict> {
  const token = sessionToken(exchange.request, terms);
  const elsewhere = token === undefined ? undefined : await sessions.end(token, terms, placeOf(exchange));
  return signedOut(elsewhere, [sessionCookie(terms, '', 0)]);
}

/** The provider has answered, and the callback has handed the answer over to the host where the log-in was begun. */
async function finish({ exchange, sessions }: SignInVisit): Promise<Verdict> {
  const { request } = exchange;
  const answer = ownPathParameter(request.target, 'answer') ?? '';
  const cookies = loginCookies(request);
  const attempts = cookies.map(({ attempt }) => attempt);
  // Of several sign-ins at the host, it may be another one's: the attempt has its terms.
  const finished = await sessions.finish(answer, attempts, placeOf(exchange));
  if (isSignInFailure(finished)) return failed(finished);
  const { terms, token, path, maxAge } = finished;
  const { name } = cookies[finished.attempt] as (typeof cookies)[number];
  // A session that the browser had before, perhaps one that somebody has planted, is over.
  const before = sessionToken(request, terms);
  if (before !== undefined) await sessions.end(before, terms, placeOf(exchange));
  return redirect(path, [sessionCookie(terms, token, maxAge), endLogin(name)]);
}

/** A parameter of the query in the target of a request for one of the gateway's own paths. */
export function ownPathParameter(target: string, name: string): string | undefined {
  return new URLSearchParams(target.replace(/^[^?]*\??/, '')).get(name) ?? undefined;
}

/** Whoever has the sessions may be away, as the database may; the reason is in the log. */
function settled(verdict: Verdict | Promise<Verdict>): Verdict | Promise<Verdict> {
  if (!(verdict instanceof Promise)) return verdict;
  return verdict.catch((error: unknown) =>
    failed(refused('signInAway', error instanceof Error ? error.message : String(error))),
  );
}

const refused = (error: SignInFailure['error'], reason: string): SignInFailure => ({ error, reason });

function failed({ error, reason }: SignInFailure): NonNullable<Verdict> {
  return { kind: 'refuse', error, reason };
}

// What stands before every operation: who is calling, in which version of the API, and how often.

import type { ServerResponse } from 'node:http';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { type ApiApp, type Caller, Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import type { ApiExchange } from '../exchange.ts';
import { versionHeaderOf } from '../route.ts';
import { addressRefusal, usedBy } from '../sign-in/address-access.ts';
import { ExchangeClient } from '../sign-in/client.ts';
import { readCookie } from '../sign-in/cookie.ts';
import { isFromDashboard, pageSecretIn } from '../sign-in/dashboard-request.ts';
import { AnonymousRateLimit } from './anonymous-rate-limit.ts';
import { Authenticator, type IsChangeFeedConnected } from './authentication.ts';

const MINUTE_SECONDS = 60;

/** Called before an operation: finds who is calling, in which version of the API, and how often. */
export type Admit = (exchange: ApiExchange) => Promise<Context>;

export interface Admission {
  /** REST takes nobody without a key, and nothing without the version header. */
  admitRest: Admit;
  /**
   * GraphQL takes strangers too: what they may see is decided field by field. And it takes browser sessions, of the
   * dashboard's own requests only; whoever sends an Authorization header is judged by that alone.
   */
  admitGraphql: Admit;
  /**
   * WebSockets take API keys, and browser sessions of the dashboard's own pages, but nobody else. Called when one begins, and
   * before each operation on it.
   */
  admitSocket: Admit;
  /** Downloads of lists take API keys, and browser sessions as GraphQL does, but nobody else. No version is asked for. */
  admitExport: Admit;
  /** Counts a request of nobody. @throws {ApiError} when there were too many in this minute. */
  countStranger(exchange: ApiExchange): void;
  /** Forgets which API keys and browser sessions were accepted: something may have been missed. */
  forgetCallers(): void;
}

type Door = 'REST' | 'GraphQL' | 'socket' | 'export';

/** The method that stands in what an operation on a WebSocket shows of its request: no request by HTTP can have it. */
export const SOCKET_METHOD = 'WEBSOCKET';
/** The methods by which browser sessions may come. */
const SESSION_METHODS = { GraphQL: ['POST'], socket: [SOCKET_METHOD], export: ['GET', 'HEAD'] };

export function createAdmission(app: ApiApp, isChangeFeedConnected: IsChangeFeedConnected): Admission {
  const { rateLimit, strangerRateLimit, versionHeaders } = app.config;
  const anonymousLimit = new AnonymousRateLimit(strangerRateLimit, app.now);
  const authenticator = new Authenticator(app, isChangeFeedConnected, anonymousLimit);
  const limiter = new RateLimiterMemory({ points: rateLimit, duration: MINUTE_SECONDS });

  const findCaller = (exchange: ApiExchange, ip: string, methods: readonly string[]): Promise<Caller | ApiError> => {
    const { request } = exchange;
    const { authorization, cookie } = request.headers;
    const token = authorization === undefined ? readCookie(cookie) : undefined;
    if (token === undefined) return authenticator.callerByKey(request, ip);
    if (!isFromDashboard(exchange, methods)) throw new ApiError('dashboardOnly');
    return authenticator.callerBySession({ token, pageSecret: pageSecretIn(request) }, ip);
  };

  const admit = async (exchange: ApiExchange, door: Door): Promise<Context> => {
    const { request, response, operationId, baseUrl, log } = exchange;
    const client = new ExchangeClient(exchange);
    const { ip } = client;
    const found = await (door === 'REST'
      ? authenticator.callerByKey(request, ip)
      : findCaller(exchange, ip, SESSION_METHODS[door]));
    const caller = found instanceof ApiError ? found : await admitted(app, found, ip);
    const context = new Context(app, operationId, baseUrl, caller, client);
    if (caller instanceof ApiError) {
      anonymousLimit.count(ip);
      if (door !== 'GraphQL') throw caller;
      return context;
    }
    const { keyId, sessionId, accountId, ownerId } = caller;
    Object.assign(log, { keyId, sessionId, accountId });
    if (door === 'REST') checkVersion(exchange, versionHeaders);
    await countRequest(limiter, keyId ?? sessionId ?? ownerId, response);
    return context;
  };

  return {
    admitRest: (exchange) => admit(exchange, 'REST'),
    admitGraphql: (exchange) => admit(exchange, 'GraphQL'),
    admitSocket: (exchange) => admit(exchange, 'socket'),
    admitExport: (exchange) => admit(exchange, 'export'),
    countStranger: (exchange) => anonymousLimit.count(new ExchangeClient(exchange).ip),
    forgetCallers: () => authenticator.forgetCallers(),
  };
}

/** The caller, or the error for the address that the request came from. */
async function admitted(app: ApiApp, caller: Caller, ip: string): Promise<Caller | ApiError> {
  return (await addressRefusal(app, usedBy(caller), caller.accountId, ip)) ?? caller;
}

/** The first of the headers that is there counts. */
function checkVersion({ request: { headers } }: ApiExchange, names: string[]): void {
  const name = versionHeaderOf(headers, names);
  if (name === undefined) throw new ApiError('missingVersion');
  if (headers[name] !== '2') throw new ApiError('unsupportedVersion');
}

/** Counts the request against the allowance of a key or a browser session. @throws {ApiError} when there is none left. */
async function countRequest(limiter: RateLimiterMemory, id: string, response: ServerResponse): Promise<void> {
  const limit = limiter.points;
  let isRefused = false;
  const state = await limiter.consume(id).catch((rejection: RateLimiterRes) => {
    isRefused = true;
    return rejection;
  });
  const seconds = Math.ceil(state.msBeforeNext / 1000);
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', state.remainingPoints);
  response.setHeader('RateLimit-Reset', seconds);
  if (!isRefused) return;
  throw new ApiError('rateLimited', { limit, seconds });
}

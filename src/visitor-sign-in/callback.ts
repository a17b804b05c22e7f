// Where identity providers send visitors back to: `/oauth2/callback/…` of the gateway's API. What they bring goes on, sealed, to the
// host where the log-in was begun; only there is the cookie that it belongs to.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { acceptsHtml, errorResponse } from '../http/error-response.ts';
import type { VisitorError } from '../http/visitor-errors.ts';
import { FINISH_PATH } from '../policy/sign-in/requests.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { Keys } from '../store/keys/keys.ts';
import { LOGIN_MAX_MS, openState, type State, sealAnswer } from './attempts.ts';
import { CALLBACK_PATH, callbackPath } from './callback-address.ts';

/** Answers a request to the callback. */
export type CallbackHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface CallbackDeps {
  keys: Keys;
  log: Logger;
  /** The wall clock, in milliseconds. */
  now(): number;
  /** Whether an account and an issuer still use the address that all shared. */
  usesSharedCallback(of: Pick<State, 'accountId' | 'issuer'>): Promise<boolean>;
}

export function callbackHandler({ keys, log, now, usesSharedCallback }: CallbackDeps): CallbackHandler {
  /** Whether an answer of this state may come to a path: to that of its account and issuer alone. */
  const isExpectedAt = (path: string, { accountId, issuer, isShared }: State): boolean | Promise<boolean> => {
    if (!isShared) return path === callbackPath(accountId, issuer);
    return path === CALLBACK_PATH && usesSharedCallback({ accountId, issuer });
  };

  return async (request, response) => {
    const fail = (error: VisitorError) => refuse(request, response, error);
    if (request.method !== 'GET') {
      response.setHeader('Allow', 'GET');
      return void response.writeHead(405, { 'Cache-Control': 'no-store' }).end();
    }
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    const states = new URLSearchParams(query).getAll('state');
    const state = states.length === 1 ? openState(keys, states[0] as string) : undefined;
    if (!state) return fail('signInStateInvalid');
    if (now() - state.at > LOGIN_MAX_MS) return fail('signInLate');
    const { id, origin, accountId, issuer } = state;
    try {
      if (!(await isExpectedAt(path, state))) {
        log.warn({ accountId, issuer }, 'the answer to a log-in has come to the callback address of another one');
        return fail('signInStateInvalid');
      }
    } catch (error) {
      log.error({ err: describeFailure(error) }, 'it cannot be looked up who uses the shared callback address');
      return fail('signInAway');
    }
    const answer = sealAnswer(keys, { id, origin, at: now(), query });
    if (answer === undefined) return fail('signInRefused');
    const location = `${origin}${FINISH_PATH}?answer=${answer}`;
    response
      .writeHead(303, { Location: location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
      .end();
  };
}

function refuse(request: IncomingMessage, response: ServerResponse, error: VisitorError): void {
  const { status, fields, body } = errorResponse(error, acceptsHtml(request.headers.accept ?? ''), false);
  for (const [name, value] of fields) response.setHeader(name, value);
  response.writeHead(status).end(body);
}

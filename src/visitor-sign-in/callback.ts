// Where identity providers send visitors back to: one address of the gateway for all endpoints, `/oauth2/callback` of its API. What
// they bring goes on, sealed, to the host where the log-in was begun; only there is the cookie that it belongs to.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { acceptsHtml, errorResponse } from '../http/error-response.ts';
import type { VisitorError } from '../http/visitor-errors.ts';
import { FINISH_PATH } from '../policy/sign-in/requests.ts';
import type { Keys } from '../store/keys/keys.ts';
import { LOGIN_MAX_MS, openState, sealAnswer } from './attempts.ts';

/** The path of the callback at the API's listener. */
export const CALLBACK_PATH = '/oauth2/callback';

/** Answers a request to the callback. */
export type CallbackHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** @param now the wall clock, in milliseconds. */
export function callbackHandler(keys: Keys, now: () => number): CallbackHandler {
  return (request, response) => {
    const fail = (error: VisitorError) => refuse(request, response, error);
    if (request.method !== 'GET') {
      response.setHeader('Allow', 'GET');
      return void response.writeHead(405, { 'Cache-Control': 'no-store' }).end();
    }
    const query = (request.url ?? '').replace(/^[^?]*\??/, '');
    const states = new URLSearchParams(query).getAll('state');
    const state = states.length === 1 ? openState(keys, states[0] as string) : undefined;
    if (!state) return fail('signInStateInvalid');
    if (now() - state.at > LOGIN_MAX_MS) return fail('signInLate');
    const answer = sealAnswer(keys, { ...state, at: now(), query });
    if (answer === undefined) return fail('signInRefused');
    const location = `${state.origin}${FINISH_PATH}?answer=${answer}`;
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

// What the errors of a log-in mean for the visitor, and for the session that is to go on.

import type { SignInFailure } from '../http/visitor-sessions.ts';
import { KeysUnavailable } from '../policy/keys/key-cache.ts';
import { FetchFailed } from './guarded-fetch.ts';
import { NoUserId } from './provider.ts';

const TEXT_MAX = 200;

interface OauthError {
  code?: unknown;
  /** As in RFC 6749, section 5.2. */
  error?: unknown;
  status?: unknown;
}

/** What to tell the visitor of what a provider threw. What the provider says is for the log alone: anybody may have written it. */
export function signInFailureOf(thrown: unknown): SignInFailure {
  if (thrown instanceof KeysUnavailable) return { error: 'signInUnavailable', reason: plain(thrown.message) };
  if (thrown instanceof NoUserId) return { error: 'signInNoUser', reason: thrown.message };
  const fetching = causesOf(thrown).find((cause) => cause instanceof FetchFailed);
  if (fetching) return { error: 'signInUnavailable', reason: plain(fetching.message) };
  const { code, error, status = 0 } = saidBy(thrown);
  const messages = causesOf(thrown).map(({ message }) => message);
  const reason = plain([code, error, ...messages].filter((text) => text !== undefined).join(': '));
  const failed = (kind: SignInFailure['error']) => ({ error: kind, reason });
  if (error === 'access_denied') return failed('signInDenied');
  if (error === 'invalid_grant') return failed('signInCodeInvalid');
  if (error === 'invalid_client' || error === 'unauthorized_client') return failed('signInClientRefused');
  if (error !== undefined) return failed('signInRefused');
  if (status >= 500) return failed('signInUnavailable'); // Its own trouble, which says nothing of the visitor.
  if (messages.some((message) => /"id_token" property must be/.test(message))) return failed('signInNoIdToken');
  if (code !== undefined) return failed('signInTokenInvalid');
  throw thrown; // It is a bug.
}

/** The same of what a renewal threw, of which a bug is no more than the log says: the session goes on. */
export function renewalFailureOf(thrown: unknown): SignInFailure {
  try {
    return signInFailureOf(thrown);
  } catch {
    return { error: 'signInUnavailable', reason: 'the session could not be renewed' };
  }
}

/** Whether a session cannot go on after what a provider threw: it does not accept the tokens any more. */
export function endsSession(thrown: unknown): boolean {
  if (thrown instanceof NoUserId) return true;
  const { error, status } = saidBy(thrown);
  if (error === 'invalid_grant' || error === 'invalid_client' || error === 'unauthorized_client') return true;
  return status === 401 || status === 403; // 408, 429 and 5xx only ask for patience.
}

/** What the library's errors say, the outer ones first; `status` may be that of the response below them. */
function saidBy(thrown: unknown): { code?: string; error?: string; status?: number } {
  const causes = causesOf(thrown);
  const said: OauthError[] = [...causes, ...causes.map(({ cause }) => cause).filter(isObject)];
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    code: said.map(({ code }) => text(code)).find((code) => code !== undefined),
    error: said.map(({ error }) => text(error)).find((error) => error !== undefined),
    status: said.map(({ status }) => status).find((status) => typeof status === 'number'),
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function causesOf(thrown: unknown): Error[] {
  const causes: Error[] = [];
  for (let at = thrown; at instanceof Error && causes.length < 8; at = at.cause) causes.push(at);
  return causes;
}

/** A text for one line of the log. */
function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, TEXT_MAX);
}

// Log-ins under way. Nothing of them is stored, so that strangers leave nothing behind: the browser keeps what belongs to its attempt
// in a sealed cookie at the host where it was begun. The state that the provider gives back says only which attempt it is of, and where.

import { randomBytes } from 'node:crypto';
import type { SignInTerms } from '../http/visitor-sessions.ts';
import type { Keys } from '../store/keys/keys.ts';

/** How long a log-in may take, and how long the way from the callback to the host; milliseconds. */
export const LOGIN_MAX_MS = 15 * 60_000;
export const HAND_OVER_MAX_MS = 60_000;
/** The longest query of an answer, in characters: it travels in a URL once more. */
const QUERY_MAX = 6000;
/** The longest sealed attempt, in characters: browsers keep no cookie of more than 4096 bytes. */
const ATTEMPT_MAX = 3800;

const [STATE, ATTEMPT, ANSWER] = ['visitor sign-in: state', 'visitor sign-in: attempt', 'visitor sign-in: answer'];

/** A log-in under way, as the browser keeps it. */
export interface LoginAttempt {
  id: string;
  /** What was sent with the visitor to the provider. */
  state: string;
  nonce: string;
  verifier: string;
  /** Where it was begun, and of which account. */
  origin: string;
  accountId: string;
  /** In origin-form. */
  path: string;
  /** Where the provider sends the visitor back to: the node that redeems the code says the same. */
  callbackUrl: string;
  terms: SignInTerms;
  /** When it was begun: the wall clock, in milliseconds. */
  at: number;
}

/** What `state` says: of which log-in it is, and for which account and issuer, whose callback alone takes it. */
export interface State extends Pick<LoginAttempt, 'id' | 'origin' | 'at' | 'accountId'> {
  issuer: string;
  /** Whether the provider was told the address that all accounts share. */
  isShared: boolean;
}

/** An answer of the provider on its way from the callback to the host. `at` is when it came. */
export interface HandedOver extends Pick<State, 'id' | 'origin' | 'at'> {
  /** The query of the callback's URL. */
  query: string;
}

/**
 * Begins a log-in. The nonce and the verifier of PKCE have 256 random bits.
 * @returns the attempt and its sealed form; undefined when it is too long for a cookie even without the path.
 */
export function beginAttempt(
  keys: Keys,
  begun: Pick<LoginAttempt, 'origin' | 'accountId' | 'path' | 'callbackUrl' | 'terms' | 'at'>,
  isShared: boolean,
): { attempt: LoginAttempt; sealed: string } | undefined {
  const random = () => randomBytes(32).toString('base64url');
  const id = randomBytes(16).toString('base64url');
  const { origin, accountId, at } = begun;
  const { parameters: _, ...terms } = begun.terms; // They are said once, at the beginning.
  const stated: State = { id, origin, accountId, issuer: terms.issuer, isShared, at };
  const state = keys.seal(JSON.stringify(stated), STATE);
  const attempt = { ...begun, terms: { ...terms, parameters: {} }, id, state, nonce: random(), verifier: random() };
  for (const path of [begun.path, '/']) {
    const sealed = keys.seal(JSON.stringify({ ...attempt, path }), ATTEMPT);
    if (sealed.length <= ATTEMPT_MAX) return { attempt: { ...attempt, path }, sealed };
  }
  return undefined;
}

/** Reads a state; undefined when it is none of ours. */
export function openState(keys: Keys, sealed: string): State | undefined {
  return open<State>(keys, sealed, STATE);
}

/** Seals an answer for the host. @returns undefined when it is too long. */
export function sealAnswer(keys: Keys, answer: HandedOver): string | undefined {
  return answer.query.length > QUERY_MAX ? undefined : keys.seal(JSON.stringify(answer), ANSWER);
}

/** Reads an answer; undefined when it is none of ours. */
export function openAnswer(keys: Keys, sealed: string): HandedOver | undefined {
  return open<HandedOver>(keys, sealed, ANSWER);
}

/** The attempt of an id among those that a browser has, and its place; undefined when it is not there. */
export function findAttempt(
  keys: Keys,
  sealed: readonly string[],
  id: string,
): { attempt: LoginAttempt; place: number } | undefined {
  for (const [place, text] of sealed.entries()) {
    const attempt = text === '' ? undefined : open<LoginAttempt>(keys, text, ATTEMPT);
    if (attempt?.id === id) return { attempt, place };
  }
  return undefined;
}

function open<T>(keys: Keys, sealed: string, place: string): T | undefined {
  try {
    return JSON.parse(keys.open(sealed, place)) as T;
  } catch {
    return undefined; // Anybody can send anything.
  }
}

// Why certificates are not issued: numbers of the catalogue of errors, and what becomes of the job.

import { AcmeProblem, type AcmeProblemDocument, AcmeUnreachable } from '../client/problem.ts';
import { grantedWait } from './waits.ts';

/** Numbers of the errors of provisioning jobs. Those of the original are used where it has told what they mean. */
export const ERRORS = {
  caaForbids: 26000,
  caaAccount: 26001,
  caaUnknownTag: 26002,
  caaMethods: 26004,
  unexpected: 26006,
  csr: 26007,
  obtain: 26009,
  conversion: 26010,
  finalization: 26011,
  preflight: 26012,
  obtainRefused: 26013,
  caaAtAuthority: 26014,
  cnameMissing: 26015,
  cnameWrong: 26016,
  challengeCnameMissing: 26019,
  challengeCnameWrong: 26020,
  http01Unreachable: 26021,
  http01Mismatch: 26022,
  rateLimited: 26023,
  connection: 26024,
  dns: 26025,
  caaLookup: 26027,
  unauthorized: 26030,
  rejectedIdentifier: 26031,
  authorityUnreachable: 26032,
  accountSuspended: 26033,
  tls: 26035,
  userAction: 26036,
  externalAccount: 26037,
  ownLimit: 26038,
} as const;

/** A certificate cannot be obtained now. The message is for people: what was found, and what was wanted. */
export class JobFailure extends Error {
  readonly errorCode: number;
  /** The authority, or a limit, allows no try before; milliseconds since 1970. */
  readonly blockedUntil: number | undefined;
  /** Whether only a person can help, so that it is not tried again by itself. */
  readonly needsPerson: boolean;

  constructor(
    error: keyof typeof ERRORS,
    message: string,
    more: { blockedUntil?: number | undefined; needsPerson?: boolean } = {},
  ) {
    super(message);
    this.errorCode = ERRORS[error];
    this.blockedUntil = more.blockedUntil;
    this.needsPerson = more.needsPerson ?? false;
  }
}

/** By the type of the authority's problem (RFC 8555, section 6.7). */
const OF_TYPE: Record<string, keyof typeof ERRORS> = {
  caa: 'caaAtAuthority',
  rateLimited: 'rateLimited',
  connection: 'connection',
  dns: 'dns',
  tls: 'tls',
  unauthorized: 'unauthorized',
  incorrectResponse: 'http01Mismatch',
  rejectedIdentifier: 'rejectedIdentifier',
  unsupportedIdentifier: 'rejectedIdentifier',
  userActionRequired: 'userAction',
  externalAccountRequired: 'externalAccount',
  badCSR: 'csr',
  badPublicKey: 'csr',
  orderNotReady: 'finalization',
};

/** Only a person can change these. */
const FOR_PEOPLE = new Set<keyof typeof ERRORS>([
  'rejectedIdentifier',
  'userAction',
  'externalAccount',
  'accountSuspended',
]);

/** What a step failed with, as the job keeps it. @param now the wall clock, in milliseconds. */
export function asJobFailure(error: unknown, now: number): JobFailure | undefined {
  if (error instanceof JobFailure) return error;
  if (error instanceof AcmeUnreachable)
    return new JobFailure('authorityUnreachable', `The certificate authority gave no proper answer: ${error.message}`, {
      blockedUntil: after(now, error.retryAfterMs),
    });
  if (error instanceof AcmeProblem) return ofProblem(error, now);
  return undefined;
}

/** Whether the authority may answer otherwise a little later, and an order under way is none the worse for it. */
export function isTransient(error: unknown): boolean {
  if (isAway(error)) return true;
  return error instanceof AcmeProblem && (error.type === 'rateLimited' || error.type === 'badNonce');
}

/** Whether the authority is away: it could not be reached, or failed itself, which says nothing of the names. */
export function isAway(error: unknown): boolean {
  if (error instanceof AcmeProblem) return error.status >= 500;
  return (
    error instanceof AcmeUnreachable || (error instanceof JobFailure && error.errorCode === ERRORS.authorityUnreachable)
  );
}

/** How an account is gone, as the authority says (RFC 8555, sections 6.2 and 7.3.6); undefined: it does not say that it is. */
export function accountGone(error: unknown): 'unknown' | 'deactivated' | undefined {
  if (!(error instanceof AcmeProblem)) return undefined;
  if (error.type === 'accountDoesNotExist') return 'unknown';
  const isDeactivated =
    error.type === 'unauthorized' && /account/i.test(error.detail) && /deactivat/i.test(error.detail);
  return isDeactivated ? 'deactivated' : undefined;
}

/** In the words of the authority, with those on single names. */
export function ofProblem(problem: AcmeProblemDocument & { retryAfterMs?: number }, now: number): JobFailure {
  const { type, detail, subproblems, instance, retryAfterMs, status } = problem;
  const isSuspended = type === 'unauthorized' && /account/i.test(detail) && /suspend|deactivat|revok/i.test(detail);
  // Let's Encrypt pauses a name that has failed for months; only the person who opens the link in its text ends that.
  const isPaused = type === 'rateLimited' && /unpause|paused/i.test(detail);
  const error = isSuspended ? 'accountSuspended' : isPaused ? 'userAction' : (OF_TYPE[type] ?? 'obtainRefused');
  const parts = subproblems.map((part) => `${part.identifier ? `${part.identifier}: ` : ''}${part.detail}`);
  const texts = [detail || type, ...parts, ...(instance ? [`See ${instance}`] : [])];
  return new JobFailure(error, `The certificate authority said: ${texts.join(' – ')}`, {
    blockedUntil: after(now, retryAfterMs, status),
    needsPerson: FOR_PEOPLE.has(error),
  });
}

const after = (now: number, ms: number | undefined, status?: number) =>
  ms === undefined ? undefined : now + grantedWait(ms, status);

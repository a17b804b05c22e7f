// Before the step of a job's state: has the authority revoke a certificate whose key is in other hands (RFC 8555, section 7.6). The
// certificate is replaced in any case: also when the authority refuses, and while it does not answer.

import { X509Certificate } from 'node:crypto';
import { AcmeProblem } from '../../client/problem.ts';
import type { JobContext, Step } from '../context.ts';
import { asJobFailure, isTransient, JobFailure } from '../failures.ts';
import { awaitsRevocation, type CertificateJob, type JobPatch, type Revocation } from '../job.ts';
import { isBlocked } from '../waits.ts';

/** How soon it is tried again at the earliest when the authority did not answer; milliseconds. */
const AGAIN_MS = 60_000;
/** How often, once another certificate is shown and nothing else is to be done. */
const RARELY_MS = 600_000;

/** Whether a revocation that was asked for is to be tried now. */
export const isRevocationDue = (job: CertificateJob, now: number): boolean =>
  awaitsRevocation(job) && (job.revocation?.nextAt ?? 0) <= now;

export const revoke: Step = async (job, context) => {
  const { store, now } = context;
  const revocation = job.revocation as Revocation;
  const result = await ask(job, revocation, context);
  const at = now();
  const isShown = job.certificate !== null && isSame(revocation.certificate, job.certificate.pem);
  if (result === 'revoked') {
    const said = { errorCode: null, message: isShown ? 'The certificate is revoked, and is being replaced.' : '' };
    return store.save(job, { revocation: null, ...goOn(job, isShown, at, said) });
  }
  const { errorCode, message, blockedUntil = 0 } = result.failure;
  if (result.isRefused)
    return store.save(job, {
      revocation: { ...revocation, refusal: message },
      ...goOn(job, isShown, at, { errorCode, message }),
    });
  const isReplaced = job.state === 'ISSUED' && !isShown;
  const againAt = Math.max(at + (isReplaced ? RARELY_MS : AGAIN_MS), blockedUntil);
  const which = isReplaced ? 'The certificate before this one' : 'The certificate';
  const said = { errorCode, message: `${which} is not revoked yet; this is tried again. ${message}` };
  const next = goOn(job, isShown, at, said);
  // With nothing else to do, the job waits for the next try, which is not in the way of a renewal.
  const nextAt = isReplaced ? Math.min(againAt, job.renewsAt ?? againAt) : next.nextAt;
  return store.save(job, { revocation: { ...revocation, nextAt: againAt }, ...next, nextAt });
};

type Result = 'revoked' | { failure: JobFailure; isRefused: boolean };

async function ask(
  job: CertificateJob,
  { certificate, reason }: Revocation,
  { authority, now }: JobContext,
): Promise<Result> {
  // Nobody trusts one that has expired.
  if (Date.parse(new X509Certificate(certificate).validTo) <= now()) return 'revoked';
  const { keyNumber } = authority;
  let isAsked = false;
  try {
    const client = await authority.client(job);
    const { revokeCert } = await client.directory();
    const offersNone = 'The certificate authority does not offer to revoke certificates.';
    if (!revokeCert) return { failure: new JobFailure('obtainRefused', offersNone), isRefused: true };
    isAsked = true;
    await client.revoke(certificate, reason);
    return 'revoked';
  } catch (error) {
    // A process may have died between the answer and its storage.
    if (isAsked && error instanceof AcmeProblem && error.type === 'alreadyRevoked') return 'revoked';
    const failure = asJobFailure(error, now());
    if (!failure || (await authority.wasKeyChanged(error, keyNumber))) throw error;
    await authority.noteRefusal(error);
    return { failure, isRefused: isAsked && !isTransient(error) };
  }
}

/** What the job does next: the certificate is replaced at once where it is shown; what was under way goes on, and says how. */
function goOn(
  { state, blockedUntil }: CertificateJob,
  isShown: boolean,
  at: number,
  said: Pick<JobPatch, 'errorCode' | 'message'>,
): JobPatch {
  if (state !== 'ISSUED') return { nextAt: isBlocked(blockedUntil, at) ? blockedUntil : at };
  return { ...said, ...(isShown && { renewsAt: at }), nextAt: at };
}

const isSame = (first: string, second: string) =>
  new X509Certificate(first).fingerprint256 === new X509Certificate(second).fingerprint256;

// ISSUED: asks the authority when it wants the certificate renewed (ARI, RFC 9773), and begins when that moment has come.

import { AcmeProblem, AcmeUnreachable } from '../../client/problem.ts';
import type { Step } from '../context.ts';
import { JobFailure } from '../failures.ts';
import { chooseInWindow, latestRenewal, nextCheck } from '../renewal-time.ts';

export const renew: Step = async (job, context) => {
  const { store, authority, now, random } = context;
  const { certificate, renewalInfo, renewsAt } = job;
  const begin = (reason: string) =>
    store.save(job, {
      state: 'WAITING_DNS',
      attempts: 0,
      lookups: 0,
      startedAt: now(),
      message: reason,
      errorCode: null,
      nextAt: now(),
    });
  if (!certificate || renewsAt === null || now() >= renewsAt) return begin('The certificate is being renewed.');
  if (!renewalInfo || renewalInfo.directoryUrl !== authority.directoryUrl)
    return store.save(job, { renewalInfo: null, nextAt: renewsAt });

  const { info, retryAfterMs } = await ask();
  const checkAt = nextCheck(now(), retryAfterMs);
  if (!info) return store.save(job, { renewalInfo: { ...renewalInfo, checkAt }, nextAt: Math.min(checkAt, renewsAt) });
  const chosen = chooseInWindow(info, renewalInfo, random());
  const at = Math.min(chosen, latestRenewal(certificate));
  await store.save(job, {
    renewalInfo: { ...renewalInfo, ...info, chosen, checkAt },
    renewsAt: at,
    message: info.explanationUrl ? `The certificate authority wants it renewed: see ${info.explanationUrl}` : '',
    nextAt: Math.min(checkAt, at),
  });

  /** What cannot be asked now is asked later: the moment that was chosen stays. */
  async function ask() {
    try {
      const client = await authority.client(job);
      const info = await client.renewalInfo(renewalInfo?.certificateId ?? '');
      return { info, retryAfterMs: info?.retryAfterMs };
    } catch (error) {
      if (error instanceof JobFailure) return { info: undefined, retryAfterMs: undefined };
      if (!(error instanceof AcmeProblem) && !(error instanceof AcmeUnreachable)) throw error;
      await authority.noteRefusal(error);
      return { info: undefined, retryAfterMs: error.retryAfterMs };
    }
  }
};

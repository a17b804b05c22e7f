// Before any order: whether the DNS leads to the gateway, and allows the authority to issue.

import { checkCaa } from '../../checks/caa.ts';
import type { Dns } from '../../checks/dns.ts';
import { checkDomain, type DomainCheck } from '../../checks/dns-check.ts';
import { checkOwnChallenge, checkOwnName } from '../../checks/own-names.ts';
import { isHopeless, recordsDelay } from '../backoff.ts';
import { challengeKind } from '../challenge-kind.ts';
import type { JobContext, Step } from '../context.ts';
import { ERRORS } from '../failures.ts';
import { type CertificateJob, type CheckedRecord, isWildcard } from '../job.ts';
import { checkChallenges } from './check-challenges.ts';

/** WAITING_DNS: goes on once all records are there. */
export const checkRecords: Step = async (job, context) => {
  const { store, settings, now, random } = context;
  const { records, isReady, message } = await context.withDns({ servers: settings.dnsServers }, (dns) =>
    lookUp(job, dns, context),
  );
  if (isReady)
    return store.save(job, {
      state: 'PREFLIGHT',
      records,
      errorCode: null,
      message: 'The records are right; the gateway checks that an authority can reach it.',
      nextAt: now(),
    });
  const waited = now() - job.startedAt;
  const wrong = records.find(({ state }) => state !== 'OK');
  // Nobody asks for the gateway's own names to be looked up again.
  const isInForce = job.certificate !== null && job.certificate.notAfter > now();
  const lookups = job.lookups + 1;
  const isGivenUp = job.domain !== null && !isInForce && isHopeless(waited, { lookups });
  await store.save(job, {
    state: isGivenUp ? 'PAUSED' : 'WAITING_DNS',
    records,
    lookups,
    errorCode: wrong ? codeOf(wrong) : ERRORS.dns,
    message: [
      wrong?.message ?? message,
      isGivenUp ? 'This was so for 30 days; it is not looked up any more until somebody asks for it.' : '',
    ]
      .join(' ')
      .trim(),
    nextAt: isGivenUp ? null : now() + recordsDelay(waited, random()),
  });
};

/** PREFLIGHT: everything else that would fail at the authority. */
export const preflight: Step = async (job, context) => {
  const { authority, store, settings, now } = context;
  const client = await authority.client(job);
  const { meta } = await client.directory();
  await context.withDns({ servers: settings.dnsServers }, async (dns) => {
    for (const name of job.names) {
      const method = challengeKind(job);
      await checkCaa(dns, name, { identities: meta.caaIdentities, accountUrl: client.accountUrl ?? '', method });
    }
    // After a failure an order is placed although the gateway does not reach itself: some networks do not let it.
    if (job.attempts === 0) await checkChallenges(job, dns, context);
  });
  await store.save(job, {
    state: 'ORDERING',
    errorCode: null,
    message: 'The certificate is being ordered.',
    nextAt: now(),
  });
};

async function lookUp(job: CertificateJob, dns: Dns, { settings }: JobContext): Promise<DomainCheck> {
  if (job.domain) return checkDomain(dns, { ...job.domain, isCertificateWanted: true });
  const { publicAddresses, ownChallengeTarget: target, dnsServesBaseDomain } = settings;
  const names = job.names.filter((name) => !isWildcard(name));
  const wildcards = dnsServesBaseDomain ? [] : job.names.filter(isWildcard);
  const records = await Promise.all([
    ...names.map((name) => checkOwnName(dns, name, publicAddresses)),
    ...wildcards.map((name) => checkOwnChallenge(dns, name, target)),
  ]);
  const isReady = records.every(({ state }) => state === 'OK');
  return { records, isReady, message: isReady ? 'The records are right.' : 'Records are missing.' };
}

function codeOf({ name, state }: CheckedRecord): number {
  const isChallenge = name.startsWith('_acme-challenge.');
  if (state === 'MISSING') return isChallenge ? ERRORS.challengeCnameMissing : ERRORS.cnameMissing;
  if (state === 'WRONG') return isChallenge ? ERRORS.challengeCnameWrong : ERRORS.cnameWrong;
  return ERRORS.dns;
}

// Obtains certificates for reserved domains and for the gateway's own names, and keeps them current.

import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { withDns } from '../../acme/checks/dns.ts';
import { AcmeAuthority } from '../../acme/jobs/authority.ts';
import { JobFailure } from '../../acme/jobs/failures.ts';
import type { CertificateJob, IssuedCertificate } from '../../acme/jobs/job.ts';
import { CertificateJobs } from '../../acme/jobs/runner.ts';
import { readServerCertificate, type ServerCertificate } from '../../api/resources/certificates/server-certificate.ts';
import type { Config } from '../../config/config.ts';
import { certificateMetrics } from '../../monitoring/certificate-metrics.ts';
import { describeFailure } from '../../runtime/describe-failure.ts';
import { lazyPackage } from '../../runtime/lazy-package.ts';
import { HISTORY_MS } from '../../store/certificates/certificate-orders.ts';
import { certificateJobStore } from '../../store/certificates/job-store.ts';
import { adoptDomains, adoptOwnNames, endLeases } from '../../store/certificates/managed-certificates.ts';
import { GATEWAY_VERSION } from '../../tunnel/session/auth-response.ts';
import { every } from '../housekeeping.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { Storage } from '../storage.ts';
import { ownCertificateNames } from './own-certificate-names.ts';

const tldts = lazyPackage<typeof import('tldts')>('tldts');
/** How often orders that count for no limit any more are deleted; milliseconds. */
const SWEEP_MS = 3_600_000;
/** How long one request to a certificate authority may take; milliseconds. */
const REQUEST_MS = 30_000;

export interface CertificatePlaneParts {
  storage: Storage;
  nodeId: string;
  baseUrl(): string;
  log: Logger;
  registry: Registry;
  /** The wall clock, in milliseconds. */
  now(): number;
}

/** Starts it, unless the operator has not agreed to the terms of an authority: domains wait then. */
export async function startCertificatePlane(
  parts: Lifecycle,
  config: Config,
  { storage, nodeId, baseUrl, log, registry, now }: CertificatePlaneParts,
): Promise<void> {
  const { prisma, changes, keys } = storage;
  await adoptDomains(prisma);
  certificateMetrics(registry, prisma);
  if (!config.acmeTermsAgreed) return;
  // The embedded database belongs to this process: who worked on a job is gone.
  await endLeases(prisma, config.databaseUrl === undefined ? undefined : nodeId);
  await adoptOwnNames(prisma, config.acmeOwnNames ? ownCertificateNames(config) : []);
  const ca = config.acmeCaFile === undefined ? undefined : await readAuthorities(config.acmeCaFile);
  const store = certificateJobStore({
    ...{ prisma, changes, keys, baseUrl },
    read: readIssued,
  });
  const userAgent = `tunnel-gateway/${GATEWAY_VERSION}`;
  await parts.start({
    name: 'certificates from an authority',
    start() {
      const authority = new AcmeAuthority(config, { ca, userAgent, timeoutMs: REQUEST_MS }, store, now, log);
      const jobs = new CertificateJobs({
        ...{ settings: config, store, authority, withDns, now, log },
        registeredDomain: (name) => tldts().getDomain(name.replace(/^\*\./, '')) ?? name,
        textRecordsOf: (job, name) => textRecordsOf(config, job, name),
        random: Math.random,
      });
      const stops = [
        changes.listen(({ kind }) => kind === 'domainCertificate' && jobs.wake()),
        changes.listen(({ kind }) => kind === 'acmeAccount' && authority.reopen()),
        stopTimer(
          every(
            SWEEP_MS,
            () => prisma.certificateOrder.deleteMany({ where: { orderedAt: { lt: new Date(now() - HISTORY_MS) } } }),
            (error) => log.warn({ err: describeFailure(error) }, 'old orders of certificates could not be deleted'),
          ),
        ),
      ];
      jobs.wake();
      return { jobs, stops };
    },
    async stop({ jobs, stops }) {
      for (const stop of stops) stop();
      await jobs.close();
    },
  });
}

/** @throws {JobFailure} in the words of the check that uploaded certificates pass. */
function readIssued({ chain, privateKey }: IssuedCertificate, at: number): ServerCertificate {
  try {
    return readServerCertificate(chain, privateKey, at).certificate;
  } catch (error) {
    throw new JobFailure(
      'conversion',
      `The certificate that was issued cannot be shown to visitors: ${(error as Error).message}`,
    );
  }
}

const stopTimer = (timer: NodeJS.Timeout) => () => clearInterval(timer);

/** Where the text of a DNS-01 challenge is looked for: at the target of the domain's record, or at both places for a name of our own. */
function textRecordsOf({ ownChallengeTarget }: Config, { domain }: CertificateJob, name: string): string[] {
  if (domain) return domain.acmeChallengeCnameTarget === null ? [] : [domain.acmeChallengeCnameTarget];
  return [`_acme-challenge.${name.replace(/^\*\./, '')}`, ownChallengeTarget];
}

/** @throws {Error} that names the variable. */
async function readAuthorities(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Error(`ACME_CA_FILE: ${file} cannot be read (${error.code})`);
  });
}

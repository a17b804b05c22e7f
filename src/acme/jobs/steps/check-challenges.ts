// Whether challenges would be answered: the gateway publishes one of its own, and asks for it as an authority does.

import { isPublicAddress } from '../../../net/public-addresses.ts';
import { type Dns, DnsFailure } from '../../checks/dns.ts';
import { visitChallenge } from '../../checks/http-visit.ts';
import { challengeKind } from '../challenge-kind.ts';
import type { JobContext } from '../context.ts';
import { JobFailure } from '../failures.ts';
import type { CertificateJob } from '../job.ts';
import { newChallengeToken } from '../tokens.ts';

/** How long the gateway answers its own challenge, by the clock of whichever node is asked; milliseconds. The step ends long before. */
const CHECK_MS = 600_000;

/** @throws {JobFailure} telling what does not lead here. TLS-ALPN-01 is not checked: it is only used after another one has failed. */
export async function checkChallenges(job: CertificateJob, dns: Dns, context: JobContext): Promise<void> {
  const kind = challengeKind(job);
  if (kind === 'http-01') await visitNames(job, dns, context);
  if (kind === 'dns-01') await lookUpTexts(job, dns, context);
}

async function visitNames(job: CertificateJob, dns: Dns, { store, settings, now }: JobContext): Promise<void> {
  const token = newChallengeToken();
  const value = `${token}.check`;
  const challenges = job.names.map((name) => ({ kind: 'http-01' as const, name, token, value, url: '' }));
  await store.publish(job, challenges, now() + CHECK_MS);
  for (const name of job.names) {
    const addresses = await addressesOf(name, dns, job.domain?.cnameTarget ?? undefined);
    await visitChallenge({ name, addresses, port: settings.acmeHttpPort, token, value });
  }
}

/**
 * Every address of a name. One that is not public must be the gateway's own: whoever has a name would have the gateway visit places of
 * its operator's network.
 */
async function addressesOf(name: string, dns: Dns, target: string | undefined): Promise<string[]> {
  try {
    const addresses = await dns.addresses(name);
    const ours = target === undefined ? addresses : await dns.addresses(target);
    const inside = addresses.find((address) => !isPublicAddress(address) && !ours.includes(address));
    if (inside === undefined) return addresses;
    throw new JobFailure(
      'http01Unreachable',
      `${name} has the address ${inside}, which no authority can reach. Remove it from the DNS.`,
    );
  } catch (error) {
    if (!(error instanceof DnsFailure)) throw error;
    throw new JobFailure('dns', `The addresses of ${name} could not be looked up: ${error.message}.`);
  }
}

async function lookUpTexts(job: CertificateJob, dns: Dns, { store, textRecordsOf, now }: JobContext): Promise<void> {
  const value = newChallengeToken();
  // A wildcard and the name that it is below have the same record.
  const records = new Set(job.names.map((name) => `_acme-challenge.${name.replace(/^\*\./, '')}`));
  const places = new Set(job.names.flatMap((name) => textRecordsOf(job, name)));
  const challenges = [...places].map((name) => ({ kind: 'dns-01' as const, name, token: '', value, url: '' }));
  await store.publish(job, challenges, now() + CHECK_MS);
  for (const record of records) {
    const found = await textsOf(record, dns);
    if (found.includes(value)) continue;
    const others = found.length === 0 ? 'no text' : 'other texts';
    throw new JobFailure(
      'dns',
      `${record} has ${others} when it is asked for through the DNS: a text that this gateway had just published was not found. The zone of ${[...places].join(' and ')} must be delegated to the name server of this gateway (DNS_PORT).`,
    );
  }
}

async function textsOf(record: string, dns: Dns): Promise<string[]> {
  try {
    return await dns.texts(record);
  } catch (error) {
    if (!(error instanceof DnsFailure)) throw error;
    throw new JobFailure('dns', `The text of ${record} could not be looked up: ${error.message}.`);
  }
}

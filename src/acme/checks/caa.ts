// Whether the DNS allows an authority to issue for a name (CAA, RFC 8659), with the parameters of RFC 8657.

import type { CaaRecord } from 'node:dns';
import { JobFailure } from '../jobs/failures.ts';
import { type Dns, DnsFailure } from './dns.ts';

export interface Issuer {
  /** The names that the authority answers to in CAA records; none: nothing is checked. */
  identities: readonly string[];
  accountUrl: string;
  /** What is going to be answered. */
  method: string;
}

/** The properties that matter here, or that an authority may pass over. */
const KNOWN_TAGS = new Set(['issue', 'issuewild', 'iodef', 'contactemail', 'contactphone', 'issuemail', 'issuevmc']);

/** @param name may be a wildcard. @throws {JobFailure} when the records forbid the certificate, or cannot be looked up. */
export async function checkCaa(dns: Dns, name: string, issuer: Issuer): Promise<void> {
  if (issuer.identities.length === 0) return;
  const isWildcard = name.startsWith('*.');
  const { records, foundAt } = await relevantRecords(dns, name.replace(/^\*\./, ''));
  const unknown = records.find((record) => record.critical !== 0 && tagsOf(record).some((tag) => !KNOWN_TAGS.has(tag)));
  if (unknown)
    throw new JobFailure(
      'caaUnknownTag',
      `A CAA record of ${foundAt} has the critical property ${tagsOf(unknown)[0]}, which authorities must not pass over. Remove it.`,
    );
  const wild = isWildcard ? records.flatMap(({ issuewild }) => issuewild ?? []) : [];
  const allowed = wild.length > 0 ? wild : records.flatMap(({ issue }) => issue ?? []);
  if (records.length === 0 || (allowed.length === 0 && !records.some((record) => 'issue' in record))) return;
  const [wanted = ''] = issuer.identities;
  const ours = allowed.filter((value) => issuer.identities.includes(domainOf(value)));
  if (ours.length === 0)
    throw new JobFailure(
      'caaForbids',
      `The CAA records of ${foundAt} do not allow ${wanted} to issue for ${name}: they allow ${allowed.map((value) => `"${value}"`).join(', ') || 'nobody'}. Add a record: 0 ${isWildcard ? 'issuewild' : 'issue'} "${wanted}".`,
    );
  const ofAccount = ours.filter((value) => [undefined, issuer.accountUrl].includes(parameterOf(value, 'accounturi')));
  if (ofAccount.length === 0)
    throw new JobFailure(
      'caaAccount',
      `The CAA records of ${foundAt} allow other accounts only; the one of this gateway is ${issuer.accountUrl}.`,
    );
  const methods = ofAccount.map((value) => parameterOf(value, 'validationmethods'));
  if (!methods.some((list) => list === undefined || list.split(',').includes(issuer.method)))
    throw new JobFailure(
      'caaMethods',
      `The CAA records of ${foundAt} allow ${methods.join(', ')} only; this gateway would use ${issuer.method}.`,
    );
}

/** Those of the nearest name that has some, from the name upwards (RFC 8659, section 3). */
async function relevantRecords(dns: Dns, name: string): Promise<{ records: CaaRecord[]; foundAt: string }> {
  for (let at = name; at.includes('.'); at = at.slice(at.indexOf('.') + 1)) {
    const records = await dns.caa(at).catch((error) => {
      if (!(error instanceof DnsFailure)) throw error;
      throw new JobFailure(
        'caaLookup',
        `The CAA records of ${at} could not be looked up: ${error.message}. An authority refuses to issue then.`,
      );
    });
    if (records.length > 0) return { records: records.map(withLowerCaseTag), foundAt: at };
  }
  return { records: [], foundAt: name };
}

/** Tags match in any case (RFC 8659, section 4.1). */
const withLowerCaseTag = (record: CaaRecord) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key.toLowerCase(), value])) as unknown as CaaRecord;
const tagsOf = (record: CaaRecord) => Object.keys(record).filter((key) => key !== 'critical' && key !== 'type');
const domainOf = (value: string) => (value.split(';')[0] ?? '').trim().toLowerCase();

function parameterOf(value: string, name: string): string | undefined {
  const parameters = value
    .split(';')
    .slice(1)
    .map((text) => text.trim().split('='));
  return parameters.find(([key]) => key?.trim().toLowerCase() === name)?.[1]?.trim();
}

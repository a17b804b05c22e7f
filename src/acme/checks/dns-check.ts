// Which records a reserved domain needs, and whether the DNS has them.

import { randomBytes } from 'node:crypto';
import type { CheckedRecord } from '../jobs/job.ts';
import { type Dns, DnsFailure } from './dns.ts';

export interface DomainCheck {
  records: CheckedRecord[];
  isReady: boolean;
  message: string;
}

/** What a check has to know of a reserved domain. */
export interface CheckedDomain {
  /** A wildcard begins with `*.`. */
  domain: string;
  cnameTarget: string | null;
  acmeChallengeCnameTarget: string | null;
  /** Whether a certificate is to be obtained for it, rather than one that was uploaded. */
  isCertificateWanted: boolean;
}

type Outcome = Pick<CheckedRecord, 'found' | 'state' | 'message'>;
/** What was found, or why nobody knows. */
type Found = string[] | DnsFailure;

interface Asked {
  dns: Dns;
  /** What the domain is to lead to. */
  target: string;
  /** The addresses of that. */
  wanted: Promise<Found>;
}

const PROBE_LABEL_BYTES = 6;

/** Asks for every record that a domain needs. It never rejects for what the DNS says, or does not say. */
export async function checkDomain(dns: Dns, checked: CheckedDomain): Promise<DomainCheck> {
  const { domain, cnameTarget: target, acmeChallengeCnameTarget: acmeTarget, isCertificateWanted } = checked;
  if (target === null)
    return { records: [], isReady: true, message: `${domain} is a name of the gateway’s own; it needs no records.` };
  const challenge = `_acme-challenge.${domain.replace(/^\*\./, '')}`;
  const asked = { dns, target, wanted: attempt(dns.addresses(target)) };
  const [addresses, ofDomain, ofChallenge] = await Promise.all([
    asked.wanted,
    domain.startsWith('*.') ? checkWildcard(asked, domain) : checkName(asked, domain),
    acmeTarget !== null && isCertificateWanted ? checkChallenge(asked, challenge, acmeTarget) : null,
  ]);
  const records = [{ name: domain, type: 'CNAME', expected: target, ...ofDomain }];
  if (acmeTarget !== null && ofChallenge)
    records.push({ name: challenge, type: 'CNAME', expected: acmeTarget, ...ofChallenge });
  return { records, ...summaryOf(records, target, addresses) };
}

/** What leads visitors: a CNAME record, or, where there can be none, the addresses of its target. */
async function checkName(asked: Asked, name: string): Promise<Outcome> {
  const { dns, target } = asked;
  const [cname, own, wanted] = await Promise.all([
    checkCname(dns, name, target),
    attempt(dns.addresses(name)),
    asked.wanted,
  ]);
  if (cname.state === 'OK' || cname.state === 'UNKNOWN') return cname;
  // By way of other names, or as an ALIAS record at the top of a zone, it may lead there all the same.
  const leads = !isFailure(own) && !isFailure(wanted) && own.length > 0 && own.every((one) => wanted.includes(one));
  if (leads) return { state: 'OK', found: own, message: `${name} has addresses of ${target}.` };
  if (cname.state === 'WRONG') return cname;
  if (isFailure(own)) return unknown(name, own);
  if (own.length === 0) return cname;
  if (isFailure(wanted)) return { ...unknown(target, wanted), found: own };
  return {
    state: 'WRONG',
    found: own,
    message: `${name} has other addresses than ${target}. Put the CNAME record in their place.`,
  };
}

/** A name that nobody has asked for before: no name server on the way knows it from earlier. */
async function checkWildcard(asked: Asked, domain: string): Promise<Outcome> {
  const probe = `check-${randomBytes(PROBE_LABEL_BYTES).toString('hex')}${domain.slice(1)}`;
  const below = await checkName(asked, probe);
  if (below.state === 'OK' || below.state === 'UNKNOWN') return below;
  if ((await checkCname(asked.dns, domain, asked.target)).state !== 'OK') return below;
  const message = `${domain} itself is right, but names below it, such as ${probe}, do not follow it.`;
  return { ...below, state: 'WRONG', message };
}

/** Below a wildcard no name is ever without a record. */
async function checkChallenge({ dns, target }: Asked, name: string, acmeTarget: string): Promise<Outcome> {
  const outcome = await checkCname(dns, name, acmeTarget);
  if (outcome.state !== 'WRONG' || !outcome.found.includes(target)) return outcome;
  const message = `${name} has no record of its own yet; that of the wildcard answers in its place.`;
  return { ...outcome, state: 'MISSING', message };
}

async function checkCname(dns: Dns, name: string, target: string): Promise<Outcome> {
  const found = await attempt(dns.cnames(name));
  if (isFailure(found)) return unknown(name, found);
  if (found.includes(target)) return { state: 'OK', found, message: `${name} leads to ${target}.` };
  if (found.length > 0)
    return { state: 'WRONG', found, message: `${name} leads to ${found.join(', ')}; it must lead to ${target}.` };
  return {
    state: 'MISSING',
    found,
    message: `${name} has no such record yet. Once it is added, it can take some minutes until it is seen here.`,
  };
}

function unknown(name: string, { message }: DnsFailure): Outcome {
  return { state: 'UNKNOWN', found: [], message: `${name} could not be looked up: ${message}.` };
}

/** Right records do not help as long as what they lead to has no address. */
function summaryOf(records: CheckedRecord[], target: string, addresses: Found): Omit<DomainCheck, 'records'> {
  const words = { MISSING: 'missing', WRONG: 'wrong', UNKNOWN: 'could not be looked up' };
  const counts = (['MISSING', 'WRONG', 'UNKNOWN'] as const).flatMap((state) => {
    const count = records.filter((record) => record.state === state).length;
    if (count === 0) return [];
    const verb = state === 'UNKNOWN' ? '' : count === 1 ? ' is' : ' are';
    return `${count} ${count === 1 ? 'record' : 'records'}${verb} ${words[state]}`;
  });
  if (counts.length > 0) return { isReady: false, message: `${counts.join(', ')}.` };
  const right = records.length === 1 ? 'The record is right' : 'The records are right';
  if (isFailure(addresses))
    return { isReady: false, message: `${right}, but ${target} could not be looked up: ${addresses.message}.` };
  if (addresses.length > 0) return { isReady: true, message: `${right}.` };
  return {
    isReady: false,
    message: `${right}, but ${target} has no address: whoever runs the gateway has to publish it in the DNS.`,
  };
}

async function attempt(asking: Promise<string[]>): Promise<Found> {
  return asking.catch((error) => {
    if (error instanceof DnsFailure) return error;
    throw error;
  });
}

const isFailure = (found: Found): found is DnsFailure => found instanceof DnsFailure;

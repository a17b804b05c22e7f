// Asking the DNS, with an end to the waiting.

import type { CaaRecord } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** What names lead to, as the DNS says it now. Names are in lower case, without a dot at their end. */
export interface Dns {
  /** @returns none when there is no such record. @throws {DnsFailure} when nobody could say. */
  cnames(name: string): Promise<string[]>;
  /** IPv4 and IPv6. Otherwise as `cnames`. */
  addresses(name: string): Promise<string[]>;
  /** The texts of TXT records, each in one piece. Otherwise as `cnames`. */
  texts(name: string): Promise<string[]>;
  /** Who may issue certificates (RFC 8659), of the very name. Otherwise as `cnames`. */
  caa(name: string): Promise<CaaRecord[]>;
}

/** The DNS gave no answer; the message says why, for people. */
export class DnsFailure extends Error {}

export interface DnsOptions {
  /** Addresses, with or without ports; none: the system's. */
  servers: string[];
  /** How long to wait for one answer, in milliseconds, before asking anew. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 2000;
const TRIES = 2;
/** For everything that is asked. Many servers, each of them silent, would take long. */
const WHOLE_TIME_MS = 8000;

const SILENT = 'no name server answered in time';
const reasons: Record<string, string> = {
  ETIMEOUT: SILENT,
  ECANCELLED: SILENT,
  ECONNREFUSED: 'no name server could be reached',
  ESERVFAIL: 'the name servers of the domain do not answer as they should (SERVFAIL)',
  EREFUSED: 'the name server refused to answer (REFUSED)',
  EBADNAME: 'it is not a name that the DNS can have',
};

/** Asks for as long as `work` goes on, and gives no answer kept from before. */
export async function withDns<T>(
  { servers, timeoutMs = TIMEOUT_MS }: DnsOptions,
  work: (dns: Dns) => Promise<T>,
): Promise<T> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  const end = setTimeout(() => resolver.cancel(), WHOLE_TIME_MS);
  try {
    return await work({
      cnames: async (name) => (await answer(resolver.resolveCname(name))).map(plain),
      addresses: async (name) =>
        (await Promise.all([answer(resolver.resolve4(name)), answer(resolver.resolve6(name))])).flat(),
      texts: async (name) => (await answer(resolver.resolveTxt(name))).map((pieces) => pieces.join('')),
      caa: (name) => answer(resolver.resolveCaa(name)),
    });
  } finally {
    clearTimeout(end);
    resolver.cancel();
  }
}

async function answer<T>(asking: Promise<T[]>): Promise<T[]> {
  try {
    return await asking;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOTFOUND' || code === 'ENODATA') return [];
    throw new DnsFailure(reasons[code] ?? code);
  }
}

const plain = (name: string) => name.toLowerCase().replace(/\.$/, '');

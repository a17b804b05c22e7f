// Which certificate a name is served with: the operator's, one that was uploaded or obtained for it, or else one that the development
// authority issues.

import { constants, createHash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { SERVER_TLS } from '../../protocol/tls-suites.ts';
import { boundedTo } from '../../runtime/lru-bound.ts';
import { openAuthority, type Pair } from './authority.ts';
import { openDirectory } from './certificate-directory.ts';
import type { Expiries, Expiry } from './certificate-expiry.ts';
import { TicketKeys } from './ticket-keys.ts';

/** Certificates that are kept at once. Another one costs a signature, less than the handshake that it is for. */
const KEPT = 10_000;
/** How long a certificate is given out: it is valid for a month longer. */
const ISSUED_MS = 60 * 86_400_000;
/** Endpoints under one certificate whose contexts are kept; each takes 25 KiB. The sessions of the oldest are forgotten. */
const CONTEXTS_KEPT = 2000;
/**
 * Certificates of the development authority whose contexts are kept at once. What names they are for, visitors say; those of the base
 * domain have one certificate.
 */
const ISSUED_CONTEXTS_KEPT = 1000;
/** A context is forgotten after this long. It is made anew each day in any case, which changes the keys of its session tickets. */
const CONTEXT_MS = 24 * 3_600_000;

export interface Certificates {
  /**
   * What TLS for a name is to be spoken with.
   * @param name of the visitor's SNI, normalised as a Host is.
   * @param servedAs what serves it, where something does: the name, or the wildcard above it. Without, only names of the
   * operator's certificates and those directly under the base domain have one: nobody can have one issued for any name.
   * @returns undefined when it is to be refused.
   */
  secureContext(name: string, servedAs?: string): Promise<SecureContext | undefined>;
  /** The same, to be used with other terms; the same object as long as it is the same certificate. */
  identity(name: string, servedAs?: string): Promise<ServedCertificate | undefined>;
  /** What TLS is to be spoken with for a certificate of somebody else. @param servedAs what serves it. */
  contextWith(pair: ServedCertificate, servedAs: string): SecureContext;
  /** What TLS for a name is to be spoken with where the operator has a certificate for it, or the gateway obtained one for itself. */
  operators(name: string): SecureContext | undefined;
  /** What TLS with agents is to be spoken with that connect by a name besides the gateway's own. */
  ofAgents(name: string): Promise<SecureContext>;
  /**
   * A certificate of the development authority for names and IP addresses, which is valid for a month at least: who
   * listens for longer has to ask again.
   */
  agentListener(hosts: string[]): Promise<{ key: string; cert: string }>;
  /** A certificate of the development authority for any other listener. `expiries` does not include it. */
  developmentCertificate(hosts: string[]): Promise<{ key: string; cert: string }>;
  /** The certificate of the development authority, which agents and visitors are to trust. */
  readonly caFile: string;
  /** When the authority, the listeners' own certificate and those of the operator end. The listeners' own is renewed by itself. */
  expiries(): Expiries;
  /** Files of the operator's directory that cannot be used as they are now. */
  unusableFiles(): number;
  close(): void;
}

export interface CertificateOptions {
  dataDir: string;
  /** The directory of the operator's certificates, where there is one. */
  tlsDir: string | undefined;
  baseDomain: string;
  log: Logger;
  /** How often the directory is looked at, in milliseconds. */
  lookMs?: number;
  /** The certificate of the domain that has a name, in PEM: the same object as long as it is the same certificate. */
  uploaded?(name: string): ServedCertificate | undefined;
  /** The certificate that was obtained for a name of the gateway's own; likewise. */
  own?(name: string): ServedCertificate | undefined;
  /** Of all processes that are to resume sessions of TLS of each other; left out: none do. */
  ticketSecret?: Buffer;
  /** The wall clock, in milliseconds; left out: that of the system. */
  time?(): number;
}

/** What visitors are shown, and the key to it. */
export type ServedCertificate = Pick<Pair, 'cert' | 'key'>;

/** @throws {AuthorityError} and what reading the directory fails with. */
export async function openCertificates({
  dataDir,
  tlsDir,
  baseDomain,
  log,
  lookMs,
  uploaded,
  own: ownFor,
  ticketSecret,
  time = Date.now,
}: CertificateOptions): Promise<Certificates> {
  const authority = await openAuthority(dataDir);
  const directory = tlsDir === undefined ? undefined : await openDirectory(tlsDir, { log, lookMs, time });
  // Promises, so that those who ask for a name at the same time wait for the same certificate.
  const issued = new LRUCache<string, Promise<Pair>>({ ...boundedTo(KEPT), ttl: ISSUED_MS });
  let own: Pair | undefined; // What the listeners show.
  // By what they serve: a session that was agreed under one context cannot be resumed under another.
  const contexts = new LRUCache<ServedCertificate, Map<string, KeptContext>>({ ...boundedTo(KEPT), ttl: CONTEXT_MS });
  const issuedContexts = new LRUCache<ServedCertificate, Map<string, KeptContext>>({
    ...boundedTo(ISSUED_CONTEXTS_KEPT),
    ttl: CONTEXT_MS,
  });
  const ticketKeys = new TicketKeys(ticketSecret, time);
  /** The names of certificates of the development authority, which differ from process to process. */
  const issuedFor = new WeakMap<ServedCertificate, string>();

  const issue = (hosts: string[]): Promise<Pair> => {
    const key = hosts.join(' ');
    const known = issued.get(key);
    if (known) return known;
    const pair = authority.issue(hosts);
    issued.set(key, pair);
    pair.then(
      (made) => issuedFor.set(made, key),
      () => issued.delete(key),
    );
    return pair;
  };
  const pairFor = (
    name: string,
    servedAs: string | undefined,
  ): ServedCertificate | Promise<ServedCertificate> | undefined => {
    const known = directory?.find(name) ?? uploaded?.(name);
    if (known) return known;
    if (name === baseDomain || wildcardOver(name) === `*.${baseDomain}`) return issue([baseDomain, `*.${baseDomain}`]);
    if (servedAs === undefined) return undefined;
    return issue([servedAs === wildcardOver(name) ? servedAs : name]);
  };

  const keptContext = (pair: ServedCertificate, servedAs = '') => {
    const names = issuedFor.get(pair);
    const kept = names === undefined ? contexts : issuedContexts;
    const ofPair = kept.get(pair) ?? new Map<string, KeptContext>();
    kept.set(pair, ofPair, { noUpdateTTL: true });
    const { day } = ticketKeys;
    const known = ofPair.get(servedAs);
    if (known?.day === day) return known.context;
    const [oldest] = ofPair.keys();
    if (!known && oldest !== undefined && ofPair.size >= CONTEXTS_KEPT) ofPair.delete(oldest);
    const certificate = names === undefined ? createHash('sha256').update(pair.cert).digest('hex') : `issued ${names}`;
    const context = contextOf(pair, ticketKeys.for({ certificate, servedAs }));
    ofPair.set(servedAs, { context, day });
    return context;
  };

  return {
    async secureContext(name, servedAs) {
      const pair = await pairFor(name, servedAs);
      return pair && keptContext(pair, servedAs);
    },
    identity: async (name, servedAs) => pairFor(name, servedAs),
    contextWith: keptContext,
    operators(name) {
      const pair = directory?.find(name) ?? ownFor?.(name);
      return pair && keptContext(pair);
    },
    async ofAgents(name) {
      // Sessions of visitors of the same name are none of theirs.
      return keptContext((await pairFor(name, name)) ?? (await issue([name])), 'agents');
    },
    async agentListener(hosts) {
      own = await issue([...new Set(hosts)]);
      return own;
    },
    developmentCertificate: (hosts) => issue(hosts),
    caFile: authority.file,
    expiries() {
      const made: Expiry[] = [{ source: 'authority', id: 'ca.pem', notAfter: authority.notAfter }];
      if (own) made.push({ source: 'listener', id: 'default', notAfter: own.notAfter });
      const { first, expiring, expired } = directory?.expiries() ?? { first: [], expiring: 0, expired: 0 };
      return { first: [...made, ...first], expiring, expired };
    },
    unusableFiles: () => directory?.unusable() ?? 0,
    close: () => directory?.close(),
  };
}

interface KeptContext {
  context: SecureContext;
  /** Of its ticket keys. */
  day: number;
}

/** The wildcard that a certificate covers a name with: it stands for one label. */
export function wildcardOver(name: string): string {
  return `*${name.slice(name.indexOf('.'))}`;
}

/** @throws when certificate and key cannot be used together. */
function contextOf({ cert, key }: ServedCertificate, ticketKeys: Buffer | undefined): SecureContext {
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION;
  return createSecureContext({
    cert,
    key,
    minVersion: 'TLSv1.2',
    ...SERVER_TLS,
    secureOptions,
    ...(ticketKeys && { ticketKeys }),
  });
}

// An ACME server for tests: RFC 8555 and RFC 9773 in earnest, with signatures, validations and certificates that are checked, and
// the faults that public authorities have.

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { newTestAuthority } from './authority.ts';
import { type EndpointAnswer, type EndpointState, endpoints } from './endpoints.ts';
import { type AcmeFaults, AcmeRefused, type AcmeResource, noFaults, problemDocument, refusalFor } from './faults.ts';
import { newLoopbackIdentity } from './loopback-identity.ts';
import { OrderBook, type ServerOrder } from './orders.ts';
import { renewalInformation } from './renewal-information.ts';
import { Nonces, verifyRequest } from './signed-request.ts';
import type { ValidationTargets } from './validation.ts';

export interface AcmeServerOptions {
  /** `http` without TLS; `https` when left out. */
  scheme?: 'https' | 'http';
  /** The clock of the authority: of orders, certificates and renewals. */
  now?: () => number;
  /** May also be set later. */
  targets?: Partial<ValidationTargets>;
  /** Of certificates that are ordered without a profile; 90 when left out. */
  lifetimeDays?: number;
  /** The profiles of certificates; none when left out. */
  profiles?: Record<string, { description: string; days: number }>;
  /** How long an order can be finalized; 7 when left out. */
  orderDays?: number;
  /** Accounts need one of these external accounts: the HMAC keys by their ids, in base64url. */
  eab?: Record<string, string>;
  /** False: an older server, which knows no RFC 9773. */
  hasRenewalInfo?: boolean;
  /** The names that it answers to in CAA records, which its directory tells. It looks at no such records itself. */
  caaIdentities?: string[];
  /** Decides which nonces are refused. */
  seed?: number;
}

export interface AcmeServer {
  directoryUrl: string;
  /** The authority of its own TLS certificate, in PEM. */
  caPem: string;
  /** The authority of the certificates that it issues, and that of the alternate chains, in PEM. */
  rootPem: string;
  alternateRootPem: string;
  /** Every order that was made, with its present state. */
  orders: readonly ServerOrder[];
  /** How often these names were ordered together. */
  countOrders(...names: string[]): number;
  /** The certificates that were revoked: their numbers in hexadecimal digits, and the codes that were given as the reasons. */
  revoked: readonly { serialNumber: string; reason: unknown }[];
  /** What was asked so far, such as `newOrder`. */
  requests: AcmeResource[];
  faults: AcmeFaults;
  targets: ValidationTargets;
  /** The URLs of the accounts that it has. */
  accountUrls: readonly string[];
  /** What their keys are known by (RFC 7638). */
  accountThumbprints: readonly string[];
  /** Forgets all accounts, as an authority that was installed anew. */
  forgetAccounts(): void;
  /** Deactivates all accounts (RFC 8555, section 7.3.6): nothing that is signed with their keys is accepted any more. */
  deactivateAccounts(): void;
  stop(): Promise<void>;
}

export async function startAcmeServer(options: AcmeServerOptions = {}): Promise<AcmeServer> {
  const { scheme = 'https', now = Date.now, profiles = {}, hasRenewalInfo = true, seed = 1 } = options;
  const identity = await newLoopbackIdentity();
  const listen = (request: IncomingMessage, response: ServerResponse) => void handle(request, response);
  const server = scheme === 'https' ? createHttpsServer(identity, listen) : createHttpServer(listen);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const faults = noFaults();
  const authority = await newTestAuthority();
  const state: EndpointState = {
    base,
    now,
    faults,
    targets: { httpPorts: [], tlsPorts: [], ...options.targets },
    book: new OrderBook({ base, now, orderDays: options.orderDays ?? 7, faults }),
    accounts: new Map(),
    certificates: [],
    authority,
    lifetimeDays: options.lifetimeDays ?? 90,
    profiles,
    eab: options.eab,
    background: new Set(),
  };
  const nonces = new Nonces(seededRandom(seed));
  const deactivated = new Set<string>();
  const requests: AcmeResource[] = [];
  const directory = {
    ...Object.fromEntries(
      ['newNonce', 'newAccount', 'newOrder', 'revokeCert', 'keyChange'].map((name) => [name, `${base}/${name}`]),
    ),
    ...(hasRenewalInfo && { renewalInfo: `${base}/renewalInfo` }),
    meta: {
      termsOfService: `${base}/terms`,
      externalAccountRequired: options.eab !== undefined,
      caaIdentities: options.caaIdentities,
      ...(options.profiles && {
        profiles: Object.fromEntries(Object.entries(profiles).map(([name, { description }]) => [name, description])),
      }),
    },
  };

  async function answer(request: IncomingMessage, body: string): Promise<EndpointAnswer> {
    const [, name = '', argument = ''] = (request.url ?? '').split('/');
    const resource = name as AcmeResource;
    requests.push(resource);
    const refusal = refusalFor(faults, resource);
    if (refusal) {
      const { status, type, detail = '', retryAfter, instance } = refusal;
      const headers: Record<string, string> = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      const more = instance === undefined ? {} : { instance };
      if (type === undefined) return { status, headers: { ...headers, 'content-type': 'text/html' }, body: '<html>' };
      return { status, headers, body: problemDocument(new AcmeRefused(status, type, detail, more)) };
    }
    if (resource === 'directory') return { body: directory };
    if (resource === 'newNonce') return { status: request.method === 'HEAD' ? 200 : 204 };
    if (resource === 'renewalInfo' && hasRenewalInfo) return renewalInformation(state, argument);
    const endpoint = endpoints[resource];
    if (!endpoint) throw new AcmeRefused(404, 'malformed', 'Page not found');
    if (request.method !== 'POST') throw new AcmeRefused(405, 'malformed', 'Method not allowed');
    const url = `${base}${request.url}`;
    const signed = await verifyRequest({
      url,
      body,
      contentType: request.headers['content-type'],
      useNonce: (nonce) => nonces.use(nonce, faults.nonceRejection),
      findAccount: (accountUrl) => state.accounts.get(accountUrl),
    });
    if (deactivated.has(signed.thumbprint))
      throw new AcmeRefused(401, 'unauthorized', 'Account is not valid, has status "deactivated"');
    return endpoint(state, { ...signed, url });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let result: EndpointAnswer;
    const resource = (request.url ?? '').split('/')[1] as AcmeResource;
    try {
      if (!request.headers['user-agent']) throw new AcmeRefused(400, 'malformed', 'A request must have a user agent.');
      const body = await text(request);
      if ((await faults.onRequest?.(resource, 'asked')) === 'lost') return void response.destroy();
      result = await answer(request, body);
    } catch (error) {
      const refused = error instanceof AcmeRefused ? error : new AcmeRefused(500, 'serverInternal', String(error));
      result = { status: refused.status, body: problemDocument(refused) };
    }
    if ((await faults.onRequest?.(resource, 'answered')) === 'lost') return void response.destroy();
    const { status = 200, headers, body } = result;
    const json = status < 400 ? 'application/json' : 'application/problem+json';
    response.writeHead(status, {
      'content-type': typeof body === 'string' ? 'application/pem-certificate-chain' : json,
      'cache-control': 'no-store',
      date: new Date(now() + (faults.clockAhead ?? 0)).toUTCString(),
      'replay-nonce': nonces.issue(),
      link: `<${base}/directory>;rel="index"`,
      ...headers,
    });
    response.end(typeof body === 'string' ? body : body && JSON.stringify(body));
  }

  const sameNames = (names: readonly string[]) => names.toSorted().join();
  return {
    directoryUrl: `${base}/directory`,
    caPem: identity.ca,
    rootPem: authority.roots[0],
    alternateRootPem: authority.roots[1],
    get orders() {
      return state.book.orders.map((order) => state.book.refresh(order));
    },
    countOrders: (...names) => state.book.orders.filter((order) => sameNames(order.names) === sameNames(names)).length,
    get revoked() {
      const revoked = state.certificates.filter(({ isRevoked }) => isRevoked);
      return revoked.map(({ leaf, revokedFor }) => ({
        serialNumber: new X509Certificate(leaf).serialNumber,
        reason: revokedFor,
      }));
    },
    requests,
    faults,
    targets: state.targets,
    get accountUrls() {
      return [...state.accounts.keys()];
    },
    get accountThumbprints() {
      return [...state.accounts.values()].map(({ thumbprint }) => thumbprint);
    },
    forgetAccounts: () => state.accounts.clear(),
    deactivateAccounts() {
      for (const { thumbprint } of state.accounts.values()) deactivated.add(thumbprint);
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all(state.background);
    },
  };
}

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

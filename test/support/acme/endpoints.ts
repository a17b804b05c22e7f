// What an ACME server does with each request (RFC 8555, section 7; RFC 9773).

import { X509Certificate } from 'node:crypto';
import type { JWK } from 'jose';
import { certificateIdOf, type IssuedChains, readCsr, type TestAuthority } from './authority.ts';
import { type AcmeFaults, AcmeRefused, type AcmeResource, problemDocument } from './faults.ts';
import {
  authorizationObject,
  challengeObject,
  newId,
  type OrderBook,
  orderObject,
  type ServerOrder,
} from './orders.ts';
import { type AcmeAccount, type SignedRequest, verifyBinding, verifyKeyChange } from './signed-request.ts';
import type { ValidationTargets } from './validation.ts';

export interface EndpointAnswer {
  status?: number;
  headers?: Record<string, string>;
  /** Sent as JSON; a string is a chain in PEM. */
  body?: object | string;
}

export interface Certificate extends IssuedChains {
  url: string;
  accountUrl: string;
  id: string;
  isRevoked: boolean;
  /** A code of RFC 5280, section 5.3.1, as it was given. */
  revokedFor?: unknown;
}

export interface EndpointState {
  base: string;
  now: () => number;
  faults: AcmeFaults;
  targets: ValidationTargets;
  book: OrderBook;
  accounts: Map<string, AcmeAccount>;
  certificates: Certificate[];
  authority: TestAuthority;
  lifetimeDays: number;
  profiles: Record<string, { description: string; days: number }>;
  eab?: Record<string, string>;
  /** What goes on after its answer, such as validations. */
  background: Set<Promise<void>>;
}

/** A request that was signed as it must be. */
export interface EndpointRequest extends SignedRequest {
  url: string;
}

type Csr = Awaited<ReturnType<typeof readCsr>>;

type Endpoint = (state: EndpointState, request: EndpointRequest) => EndpointAnswer | Promise<EndpointAnswer>;

export const endpoints: Partial<Record<AcmeResource, Endpoint>> = {
  async newAccount({ base, accounts, eab }, { account, key, thumbprint, payload = {}, url }) {
    if (account) throw new AcmeRefused(400, 'malformed', 'A new account must be asked for with its key.');
    const earlier = [...accounts.values()].find((known) => known.thumbprint === thumbprint);
    if (earlier) return { headers: { location: earlier.url }, body: { status: 'valid' } };
    if (payload.onlyReturnExisting)
      throw new AcmeRefused(400, 'accountDoesNotExist', 'No account exists with the provided key');
    if (payload.termsOfServiceAgreed !== true)
      throw new AcmeRefused(403, 'userActionRequired', 'The terms of service must be agreed to.', {
        instance: `${base}/terms`,
      });
    if (eab) await verifyBinding(payload.externalAccountBinding, eab, key, url);
    const made: AcmeAccount = { url: `${base}/account/${newId()}`, key, thumbprint };
    accounts.set(made.url, made);
    return { status: 201, headers: { location: made.url }, body: { status: 'valid', contact: payload.contact } };
  },

  newOrder({ faults, book, profiles, certificates }, request) {
    const account = accountOf(request);
    const { identifiers, profile, replaces } = request.payload as {
      identifiers: { type: string; value: string }[];
      profile?: string;
      replaces?: string;
    };
    const names = identifiers.map(({ value }) => value.toLowerCase());
    const rejected = names.filter((name) => faults.rejectedNames.includes(name));
    if (rejected.length > 0)
      throw new AcmeRefused(400, 'rejectedIdentifier', 'Cannot issue for some of the names', {
        subproblems: rejected.map((value) => ({
          type: 'urn:ietf:params:acme:error:rejectedIdentifier',
          detail: `The ACME server refuses to issue a certificate for "${value}"`,
          identifier: { type: 'dns', value },
        })),
      });
    if (profile !== undefined && !Object.hasOwn(profiles, profile))
      throw new AcmeRefused(400, 'invalidProfile', `profile "${profile}" is not known`);
    if (
      replaces !== undefined &&
      !certificates.some(({ id, accountUrl }) => id === replaces && accountUrl === account.url)
    )
      throw new AcmeRefused(404, 'malformed', `no certificate of this account has the id ${replaces}`);
    const order = book.add({ account, names, profile, replaces });
    return { status: 201, headers: { location: order.url }, body: orderObject(order) };
  },

  order: ({ book, faults }, request) => showOrder(book.refresh(orderOf(book, request)), faults),

  async finalize(state, request) {
    const { book, faults, background } = state;
    const order = book.refresh(orderOf(book, request));
    if (order.status !== 'ready')
      throw new AcmeRefused(
        403,
        'orderNotReady',
        `Order's status ("${order.status}") is not acceptable for finalization`,
      );
    const csr = await readCsr(Buffer.from(String(request.payload?.csr), 'base64url'), order.names, request.key);
    order.status = 'processing';
    run(background, () => issue(state, order, csr));
    return showOrder(order, faults);
  },

  authorization({ book, faults }, request) {
    const found = book.authorizations.find(({ url }) => url === request.url);
    const authorization = own(found, request);
    return {
      headers: authorization.status === 'pending' ? retry(faults) : {},
      body: authorizationObject(authorization),
    };
  },

  challenge({ book, targets, background }, request) {
    const found = book.authorizations.find(({ challenges }) => challenges.some(({ url }) => url === request.url));
    const authorization = own(found, request);
    const challenge = authorization.challenges.find(
      ({ url }) => url === request.url,
    ) as (typeof authorization.challenges)[0];
    if (request.payload && challenge.status !== 'pending')
      throw new AcmeRefused(
        400,
        'malformed',
        `Cannot update challenge with status ${challenge.status}, only status pending`,
      );
    if (request.payload) {
      const { account } = request as { account: AcmeAccount };
      run(background, () => book.validate(authorization, challenge, account, targets));
    }
    return { headers: { link: `<${authorization.url}>;rel="up"` }, body: challengeObject(challenge) };
  },

  certificate({ certificates }, request) {
    const alternate = `${request.url.replace(/\/1$/, '')}/1`;
    const certificate = own(
      certificates.find(({ url }) => `${url}/1` === alternate),
      request,
    );
    const isAlternate = request.url === alternate;
    const other = isAlternate ? certificate.url : alternate;
    return { headers: { link: `<${other}>;rel="alternate"` }, body: certificate.chains[isAlternate ? 1 : 0] };
  },

  revokeCert({ certificates }, { payload = {}, account }) {
    const der = Buffer.from(String(payload.certificate), 'base64url');
    const certificate = certificates.find(({ leaf }) => new X509Certificate(leaf).raw.equals(der));
    if (!certificate) throw new AcmeRefused(404, 'malformed', 'Certificate not found');
    if (certificate.accountUrl !== account?.url)
      throw new AcmeRefused(403, 'unauthorized', 'The certificate is of another account.');
    if (certificate.isRevoked) throw new AcmeRefused(400, 'alreadyRevoked', 'Certificate already revoked');
    Object.assign(certificate, { isRevoked: true, revokedFor: payload.reason });
    return {};
  },

  async keyChange({ accounts }, request) {
    const account = accountOf(request);
    const { key, thumbprint } = await verifyKeyChange(request.payload ?? {}, account, request.url);
    const owner = [...accounts.values()].find((other) => other.thumbprint === thumbprint);
    if (owner) throw new AcmeRefused(409, 'malformed', 'New key is already in use for a different account');
    Object.assign(account, { key: key as JWK, thumbprint });
    return { body: { status: 'valid' } };
  },
};

/** Issues the certificate of an order. It never fails: the outcome is in the order. */
async function issue(state: EndpointState, order: ServerOrder, csr: Csr): Promise<void> {
  const { faults, authority, lifetimeDays, profiles, certificates, now } = state;
  try {
    if (faults.invalidOrders !== undefined) throw new AcmeRefused(403, 'caa', faults.invalidOrders);
    const days = (order.profile && profiles[order.profile]?.days) || lifetimeDays;
    const issued = await authority.issue(csr, order.names, days, now(), faults.wrongCertificates);
    const url = order.url.replace('/order/', '/certificate/');
    certificates.push({
      ...issued,
      url,
      accountUrl: order.accountUrl,
      id: certificateIdOf(issued.leaf),
      isRevoked: false,
    });
    order.certificate = issued.chains[0];
    refreshIssued(order, faults);
  } catch (error) {
    const refused = error instanceof AcmeRefused ? error : new AcmeRefused(500, 'serverInternal', String(error));
    order.error = problemDocument(refused);
    order.status = 'invalid';
  }
}

function showOrder(order: ServerOrder, faults: AcmeFaults): EndpointAnswer {
  refreshIssued(order, faults);
  return {
    headers: order.status === 'processing' || order.status === 'pending' ? retry(faults) : {},
    body: orderObject(order),
  };
}

/** An order that is stuck becomes valid when the fault is taken away. */
function refreshIssued(order: ServerOrder, { stuckOrders }: AcmeFaults): void {
  if (order.status === 'processing' && order.certificate && !stuckOrders) order.status = 'valid';
}

const retry = ({ retryAfter }: AcmeFaults): Record<string, string> =>
  retryAfter === undefined ? {} : { 'retry-after': retryAfter };

function run(background: Set<Promise<void>>, work: () => Promise<void>): void {
  const running = work().finally(() => background.delete(running));
  background.add(running);
}

function accountOf({ account }: EndpointRequest): AcmeAccount {
  if (!account) throw new AcmeRefused(400, 'malformed', 'This request must be signed by an account.');
  return account;
}

function orderOf(book: OrderBook, request: EndpointRequest): ServerOrder {
  const url = request.url.replace('/finalize/', '/order/');
  return own(
    book.orders.find((order) => order.url === url),
    request,
  );
}

function own<Owned extends { accountUrl: string }>(found: Owned | undefined, request: EndpointRequest): Owned {
  if (found && found.accountUrl === accountOf(request).url) return found;
  throw new AcmeRefused(404, 'malformed', `Nothing of this account is at ${request.url}`);
}

// The orders and authorizations of an ACME server (RFC 8555, section 7.1).

import { randomBytes } from 'node:crypto';
import { type AcmeFaults, AcmeRefused, problemDocument } from './faults.ts';
import type { AcmeAccount } from './signed-request.ts';
import { type ValidationTargets, validate } from './validation.ts';

const DAY_MS = 86_400_000;

export interface ServerChallenge {
  url: string;
  type: string;
  status: 'pending' | 'processing' | 'valid' | 'invalid';
  token: string;
  error?: object;
  validated?: number;
}

export interface ServerAuthorization {
  url: string;
  accountUrl: string;
  name: string;
  wildcard: boolean;
  status: 'pending' | 'valid' | 'invalid';
  expires: number;
  challenges: ServerChallenge[];
}

/** An order as tests see it. */
export interface ServerOrder {
  url: string;
  accountUrl: string;
  /** Sorted. */
  names: string[];
  profile?: string;
  /** The id of the certificate that it replaces. */
  replaces?: string;
  status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  expires: number;
  error?: object;
  authorizations: ServerAuthorization[];
  /** The chain that is sent by default, in PEM. */
  certificate?: string;
}

export interface OrderBookOptions {
  base: string;
  now: () => number;
  orderDays: number;
  faults: AcmeFaults;
}

export interface WantedOrder {
  account: AcmeAccount;
  names: string[];
  profile?: string;
  replaces?: string;
}

/** Every order that there was, in the order in which they came. */
export class OrderBook {
  readonly orders: ServerOrder[] = [];
  readonly authorizations: ServerAuthorization[] = [];
  readonly #options: OrderBookOptions;

  constructor(options: OrderBookOptions) {
    this.#options = options;
  }

  add({ account, names, profile, replaces }: WantedOrder): ServerOrder {
    const { base, now, orderDays, faults } = this.#options;
    const sorted = names.toSorted();
    const isSame = (order: ServerOrder) =>
      order.accountUrl === account.url && order.profile === profile && order.names.join() === sorted.join();
    const earlier = this.orders.find((order) => isSame(order) && /pending|ready/.test(this.refresh(order).status));
    if (faults.reusesOrders && earlier) return earlier;
    const isReplacement = (order: ServerOrder) => order.replaces === replaces && order.status !== 'invalid';
    if (replaces !== undefined && this.orders.some(isReplacement))
      throw new AcmeRefused(
        409,
        'alreadyReplaced',
        `cannot indicate an order replaces certificate ${replaces}, which already has a replacement order`,
      );
    const order: ServerOrder = {
      url: `${base}/order/${newId()}`,
      accountUrl: account.url,
      names: sorted,
      profile,
      replaces,
      status: 'pending',
      expires: now() + orderDays * DAY_MS,
      authorizations: sorted.map((name) => this.#authorize(account, name)),
    };
    this.orders.push(order);
    return this.refresh(order);
  }

  /** Brings the status up to date with those of the authorizations, and with the time. */
  refresh(order: ServerOrder): ServerOrder {
    if (order.status !== 'pending' && order.status !== 'ready') return order;
    const statuses = order.authorizations.map(({ status }) => status);
    if (order.expires <= this.#options.now() || statuses.includes('invalid')) order.status = 'invalid';
    else if (statuses.every((status) => status === 'valid')) order.status = 'ready';
    return order;
  }

  /** Validates a challenge. It never fails: the outcome is in the challenge and its authorization. */
  async validate(
    authorization: ServerAuthorization,
    challenge: ServerChallenge,
    account: AcmeAccount,
    targets: ValidationTargets,
  ): Promise<void> {
    const { faults, now } = this.#options;
    challenge.status = 'processing';
    challenge.error = undefined;
    try {
      await faults.onValidation?.(authorization.name);
      const { thumbprint } = account;
      if (faults.invalidAuthorizations !== undefined)
        throw new AcmeRefused(403, 'unauthorized', faults.invalidAuthorizations);
      const { type, token } = challenge;
      await validate(type, authorization.name, token, `${token}.${thumbprint}`, targets);
      challenge.status = 'valid';
      challenge.validated = now();
      authorization.status = 'valid';
    } catch (error) {
      const refused = error instanceof AcmeRefused ? error : new AcmeRefused(500, 'serverInternal', String(error));
      challenge.error = problemDocument(refused);
      challenge.status = faults.keepsFailedChallenges ? 'pending' : 'invalid';
      if (!faults.keepsFailedChallenges) authorization.status = 'invalid';
    }
  }

  #authorize(account: AcmeAccount, name: string): ServerAuthorization {
    const { base, now, faults } = this.#options;
    const wildcard = name.startsWith('*.');
    const plain = wildcard ? name.slice(2) : name;
    const earlier = this.authorizations.find(
      (old) =>
        old.accountUrl === account.url &&
        old.name === plain &&
        old.wildcard === wildcard &&
        old.status === 'valid' &&
        old.expires > now(),
    );
    if (faults.reusesAuthorizations && earlier) return earlier;
    const types = [
      ...(faults.offersUnknownChallenges || faults.offersOnlyUnknownChallenges ? ['dns-persist-01'] : []),
      ...(faults.offersOnlyUnknownChallenges ? [] : wildcard ? ['dns-01'] : ['http-01', 'dns-01', 'tls-alpn-01']),
    ];
    const made: ServerAuthorization = {
      url: `${base}/authorization/${newId()}`,
      accountUrl: account.url,
      name: plain,
      wildcard,
      status: 'pending',
      expires: now() + 7 * DAY_MS,
      challenges: types.map((type) => ({
        url: `${base}/challenge/${newId()}`,
        type,
        status: 'pending',
        token: this.#options.faults.token ?? randomBytes(32).toString('base64url'),
      })),
    };
    this.authorizations.push(made);
    return made;
  }
}

export const newId = () => randomBytes(12).toString('base64url');

export const orderObject = (order: ServerOrder) => ({
  status: order.status,
  expires: new Date(order.expires).toISOString(),
  identifiers: order.names.map((value) => ({ type: 'dns', value })),
  profile: order.profile,
  replaces: order.replaces,
  error: order.error,
  authorizations: order.authorizations.map(({ url }) => url),
  finalize: order.url.replace('/order/', '/finalize/'),
  ...(order.status === 'valid' && { certificate: order.url.replace('/order/', '/certificate/') }),
});

export const authorizationObject = (authorization: ServerAuthorization) => ({
  identifier: { type: 'dns', value: authorization.name },
  status: authorization.status,
  expires: new Date(authorization.expires).toISOString(),
  ...(authorization.wildcard && { wildcard: true }),
  challenges: authorization.challenges.map(challengeObject),
});

export const challengeObject = ({ validated, ...challenge }: ServerChallenge) => ({
  ...challenge,
  ...(validated !== undefined && { validated: new Date(validated).toISOString() }),
});

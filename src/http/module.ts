// What stands between visitors and an endpoint: modules of routes, the options of a tunnel, traffic policies. Each is a
// module; a chain runs them in a fixed order.

import type { KeyObject } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { AddressFacts } from '../net/geo-databases.ts';
import type { ReachableHosts } from '../net/reachable-hosts.ts';
import type { LiveEndpoint, Proto, Visitor } from '../tunnel/endpoints/endpoint.ts';
import type { HttpExchange, VisitorConnection } from './exchange.ts';
import type { SendOutbound } from './outbound.ts';
import type { VisitorError } from './visitor-errors.ts';
import type { HeldVisitorSessions } from './visitor-sessions.ts';

/** A module's own answer, in place of the upstream's. */
export interface Responded {
  kind: 'answer';
  status: number;
  /** Without `Content-Length`, which is added. */
  fields: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** Why the visitor was turned away, for the log; undefined where that is not what it is. */
  reason?: string;
}

/** The visitor is turned away with one of the gateway's own errors. */
export interface ModuleRefusal {
  kind: 'refuse';
  error: VisitorError;
  fields?: readonly (readonly [name: string, value: string])[];
  /** For the log, which has it under the operation id that the visitor is shown. */
  reason: string;
}

/** The connection is closed without an answer. */
export interface CloseConnection {
  kind: 'close';
  reason: string;
}

/** Another endpoint is asked in place of this one; its own modules apply too. */
export interface ForwardToEndpoint {
  kind: 'forward';
  endpoint: LiveEndpoint;
}

/** Undefined: goes on. */
export type Verdict = Responded | ModuleRefusal | CloseConnection | ForwardToEndpoint | undefined;

/** What upstream did: its status; `failed` when it gave no answer; `unasked` when it never had to show, or nobody waited. */
export type UpstreamOutcome = number | 'failed' | 'unasked';

export interface HttpModule {
  /** As the API and the log call it, in snake_case. */
  readonly name: string;
  /** Whether what it does depends on the path: it gets no request then whose path upstream may read otherwise. */
  readonly readsPath?: boolean;
  /** Whether visitors sign in at it: it answers what is its own of the gateway's paths, and lets the rest of them pass. */
  readonly signsIn?: boolean;
  /** The names of internal endpoints that it sends visitors to, or asks, as far as they are known beforehand. */
  readonly leadsTo?: readonly string[];
  /** The URLs of the internal endpoints that serve all its visitors; left out where others serve some, or nobody does. */
  readonly servedOnlyBy?: readonly string[];
  /** Before upstream is asked. What throws is a bug: the visitor gets a 500. */
  onRequest?(exchange: HttpExchange): Verdict | Promise<Verdict>;
  /** When the head of an answer is there, `exchange.response`. It may be changed, or replaced by another one. */
  onResponse?(exchange: HttpExchange): Verdict | Promise<Verdict>;
  /** Told once for every request that came to this module, of one that was turned away that upstream was not asked. */
  onOutcome?(exchange: HttpExchange, outcome: UpstreamOutcome): void;
}

/** How TLS with a visitor is to be spoken, where a policy says so. */
export interface TlsParameters {
  minVersion: 'TLSv1.2' | 'TLSv1.3';
  maxVersion: 'TLSv1.2' | 'TLSv1.3';
  /** In PEM, in place of the certificate that the name has. */
  identity?: { cert: string; key: string };
  /** Who issues visitors' certificates, in PEM. */
  clientAuthorities?: readonly string[];
  /** What becomes of visitors without a certificate, or with another. */
  clientVerification?: 'require-and-verify' | 'require-any' | 'request';
}

/** A connection that has just been accepted: before its TLS, where it has any. */
export interface NewConnection extends VisitorConnection {
  /**
   * Speaks TLS with the visitor, and ends it here; once at most. Missing where there is no TLS to end.
   * @returns false when the handshake failed: the connection is gone then.
   */
  terminateTls?(terms: TlsParameters): Promise<boolean>;
}

export interface ConnectionModule {
  readonly name: string;
  /** Whether it may end the visitor's TLS. */
  readonly endsTls?: boolean;
  /** As an `HttpModule` has it. */
  readonly leadsTo?: readonly string[];
  /** As an `HttpModule` has it. */
  readonly servedOnlyBy?: readonly string[];
  onConnection(
    connection: NewConnection,
  ): CloseConnection | ForwardToEndpoint | undefined | Promise<CloseConnection | ForwardToEndpoint | undefined>;
}

/** A transition of a circuit breaker: its new state, and how long that lasts; milliseconds. */
export interface BreakerTransition {
  state: 'open' | 'probing' | 'closed';
  forMs: number;
}

/** A circuit breaker that does what the same one does at another node. */
export interface FollowingBreaker {
  follow(transition: BreakerTransition): void;
  /** Requests that were completed at another worker of this machine. */
  addOutcomes(requests: number, failures: number): void;
}

/** What a circuit breaker tells those of its id. */
export interface BreakerLink {
  /** Its transition, to all nodes. */
  tell(transition: BreakerTransition): void;
  /** A request that was completed here, to the other workers of this machine: they count together. */
  count(hasFailed: boolean): void;
}

/** What modules share with the same modules at the other nodes. */
export interface SharedState {
  /**
   * Counts an event of a key against a limit over all nodes.
   * @param id of the limit, the same at each node.
   * @returns 0 when it is allowed, otherwise the milliseconds until the next one is.
   */
  takeLimit(id: string, limit: { capacity: number; windowMs: number }, key: string): number | Promise<number>;
  /**
   * Lets a circuit breaker follow the transitions of those with its id at other nodes, also one that has just been.
   * @returns what tells the others of this one.
   */
  joinBreaker(id: string, breaker: FollowingBreaker): BreakerLink;
}

/** The secrets of accounts, for their policies. */
export interface SecretReader {
  /** The values of an account's secrets as they are now, by the names of their vaults and their own. */
  of(accountId: string): ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** What modules need of the world around them. */
export interface ModuleEnvironment {
  /** A clock that never goes back, in milliseconds. */
  now(): number;
  /** The wall clock, in milliseconds. */
  time(): number;
  /** Which hosts policies may have the gateway ask. */
  policyHosts: ReachableHosts;
  /**
   * The key in the certificate that a sender of webhooks names in a message, within the dates of the certificate.
   * @param accountId of the endpoint that it came to: its fetches are limited.
   * @throws {KeysUnavailable}
   */
  signingKey(certificateUrl: string, accountId: string): Promise<KeyObject>;
  /** What policies read with `secrets.get`. */
  secrets: SecretReader;
  /** Sends the request of an `http-request` action. */
  readonly sendOutbound: SendOutbound;
  /** Where an address is, and whose network it is in. Undefined, or left out: there is no database of addresses. */
  readonly locate?: ((address: string) => AddressFacts) | undefined;
  /** What a policy's `log` action says of an exchange, or of a connection. */
  note(about: VisitorConnection, metadata: object): void;
  /**
   * Says what is allowed in a policy, and hardly meant, when a module is made of it; left out: nobody wants to know.
   * @param about the place in the policy, and what it is.
   */
  warn?(owner: ModuleOwner, about: { path: string; message: string }): void;
  /**
   * The internal endpoint of the account that a URL such as `https://name.internal` names. A promise only when other nodes are
   * asked; it never rejects.
   */
  internal(accountId: string, url: string): LiveEndpoint | undefined | Promise<LiveEndpoint | undefined>;
  /**
   * Connects to an internal endpoint for a request that a policy sends on behalf of a visitor: its modules and its policy apply.
   * The connection takes HTTP/1.1 without TLS. Left out where no endpoint may be asked, as in trial runs.
   */
  callInternal?(endpoint: LiveEndpoint, visitor: Visitor): Duplex;
  /** The sessions of visitors who sign in; left out where nobody does. */
  visitorSessions?: HeldVisitorSessions;
  /** The domains below which several accounts have names; left out: none. */
  sharedDomains?: readonly string[];
  /** Undefined, or left out: there are no other nodes to share with. It is called when a module is made. */
  shared?(): SharedState | undefined;
}

/** For whom a module is made. */
export interface ModuleOwner {
  accountId: string;
  proto: Proto;
  /** By what other nodes know the same owner; undefined as long as that is not known, left out: by nothing. */
  scope?(): string | undefined;
  /** Whether it may send visitors to the internal endpoint of a name, or ask it, now; left out: to all of its account. */
  mayReach?(hostname: string): boolean;
}

// What the API asks of other parts, as interfaces: the parts are made elsewhere and handed in.

import type { OpenChannel } from '../alerts/channels/deliver.ts';
import type { Captures } from '../capture/captures.ts';
import type { ClusterCaptures } from '../capture/cluster-captures.ts';
import type { EdgeVisit, EdgeVisitResult } from '../capture/edge-visit.ts';
import type { Replays } from '../capture/replay.ts';
import type { LiveRestrictions } from '../edge/restrictions/live-restrictions.ts';
import type { Target } from '../events/sinks/index.ts';
import type { CircuitBreakerSnapshot } from '../http/circuit-breaker.ts';
import type { ClusterRequestLog } from '../request-log/cluster-request-log.ts';
import type { EndpointTrafficSnapshot } from '../tunnel/endpoints/endpoint-registry.ts';
import type { AnnouncedRefusal, RoundTrip } from '../tunnel/session/session-types.ts';
import type { ApiError } from './errors/errors.ts';
import type { SignInLogEntry } from './exchange.ts';
import type { SingleSignOnSettings } from './single-sign-on-settings.ts';

/** The listener for agents. */
export interface AgentEndpointInfo {
  /** Where it listens: host and port. */
  address: string;
  /** Names that its certificate is for on top of the usual ones: an operator who sets them means agents to use them. */
  hosts: readonly string[];
  /** The file with the certificate of the development authority, in PEM. */
  caFile: string;
  /** Whether the listener shows this name a certificate that the operator gave, or that the gateway obtained. */
  hasOwnCertificate(name: string): Promise<boolean>;
}

/** What all sign-ins of this process share: how many passwords are hashed at once, and who has to wait. */
export interface SignInService {
  /** The operator's provider; undefined where there is none. */
  singleSignOn: SingleSignOn | undefined;
  attempts: {
    /**
     * Makes an attempt, which counts as failed while it is under way.
     * @param work gives null when the attempt failed.
     * @throws {ApiError} when it is too early for another one.
     */
    run<T>(email: string | null, ip: string, work: () => Promise<T | null>): Promise<T | null>;
    /** Tries a code of a second factor, which counts for the user, too, wherever it comes from. @throws {ApiError} likewise. */
    runCode<T>(user: { userId: string; after: string }, ip: string, work: () => Promise<T | null>): Promise<T | null>;
  };
  /** @throws {ApiError} when too many passwords are being hashed. */
  hashPassword(password: string): Promise<string>;
  /**
   * Whether this is the password of a hash. Without a hash, saying no takes as long.
   * @throws {ApiError} when too many passwords are being hashed.
   */
  verifyPassword(password: string, stored: string | undefined): Promise<boolean>;
}

/** Signs users in with the operator's OpenID Connect provider. */
export interface SingleSignOn {
  readonly settings: SingleSignOnSettings;
  /**
   * @param callbackUrl where the provider sends the browser.
   * @returns where the user signs in, and the sealed attempt, without which nobody completes it.
   * @throws {SingleSignOnFailed} when the provider does not answer as it should.
   */
  begin(callbackUrl: string): Promise<{ url: string; attempt: string }>;
  /** @param query of the callback's URL, as it came. @throws {SingleSignOnFailed} when it is no answer to the attempt. */
  redeem(attempt: string, query: string): Promise<OperatorIdentity>;
}

/** Who an operator is, as the provider says. */
export interface OperatorIdentity {
  issuer: string;
  subject: string;
  /** In lower case; '' when there is none that can be relied on. */
  email: string;
  groups: string[];
}

/** Notes which API keys are used, and writes it later. */
export interface ApiKeyUsage {
  recordUse(keyId: string): void;
  /** Writes what was noted, now. It never rejects. */
  flush(): Promise<void>;
}

/** Runs operations that cost much, a few of each account at a time. */
export interface HeavyOperationQueue {
  /** @throws {ApiError} when too many of the account wait already. */
  run<T>(accountId: string, work: () => Promise<T>): Promise<T>;
}

/** From which addresses accounts may be used, as every process of the gateway knows it. */
export type AddressRestrictions = Pick<LiveRestrictions, 'of' | 'refresh' | 'onChange'>;

/** The other end of one request, as far as signing in has to know it. */
export interface ApiClient {
  /** Its address; behind a trusted proxy, the address that the proxy names. */
  readonly ip: string;
  /** Whether it is on this machine. */
  readonly isLoopback: boolean;
  readonly userAgent: string;
  /** Why nobody can sign in from there; null where one can. */
  readonly signInRefusal: ApiError | null;
  /** The browser session that the response begins; undefined when it begins none. */
  readonly sessionId: string | undefined;
  /** Where a stream of changes was that the client wants to go on with; undefined when it begins one. */
  readonly lastEventId: string | undefined;
  /** Where the stream of changes is, behind the event that is told next. */
  eventId: string | undefined;
  /** Calls back when nobody waits for more of the response. @returns what ends that. */
  onDisconnect(listener: () => void): () => void;
  /** @throws {ApiError} when nobody may sign in by this request: others may listen, or another page may have sent it. */
  checkMaySignIn(): void;
  /** Gives the browser the token of its session, or takes it away: null. */
  setSession(session: { id: string; token: string } | null): void;
  /** The sealed challenge for a passkey that the browser was given; undefined when it has none. */
  readonly passkeyChallenge: string | undefined;
  /** Gives the browser a sealed challenge for a passkey, or takes it away: null. */
  setPasskeyChallenge(sealed: string | null): void;
  /** Adds a sign-in to the request's log line. */
  recordSignIn(signIn: SignInLogEntry): void;
}

/** The captured requests of the node that is asked, in its memory and nowhere else; and those of all nodes. */
export interface NodeCaptures {
  readonly captures: Captures;
  readonly clusterCaptures: ClusterCaptures;
  readonly replays: Pick<Replays, 'send'>;
  /** Visits a name that the gateway serves. It never rejects. */
  visitEdge(visit: EdgeVisit): Promise<EdgeVisitResult>;
}

/** What a node says of itself. */
export interface NodeFacts {
  /** The version of the gateway. */
  version: string;
  /** When it started; milliseconds of the wall clock. */
  startedAt: number;
}

/** The nodes of the gateway that answer. */
export interface NodeDirectory {
  /** The id of this node. */
  readonly ownId: string;
  /** What the nodes say of themselves, by node id: this one, and those that answer it within a second. */
  reachable(): Promise<ReadonlyMap<string, NodeFacts>>;
}

/** Said of what all nodes together know. */
interface Gathered {
  /** Whether a node did not answer in time, which may know more; null where this node has no links to others. */
  isPartial: boolean | null;
}

export type ShownCircuitBreaker = CircuitBreakerSnapshot & Gathered;
export type ShownTraffic = EndpointTrafficSnapshot & Gathered;
export type ShownRoundTrip = RoundTrip & Gathered;

/** What the nodes know of their traffic, which is in their memory and nowhere else. Each waits for other nodes for a second at most. */
export interface TrafficState {
  /** The circuit breaker of a route over all nodes; null when the route has none that acts. */
  circuitBreaker(routeId: string): Promise<ShownCircuitBreaker | null>;
  /** The sums over all nodes, of any account; null when no node that answers serves the endpoint. */
  endpointTraffic(id: string): Promise<ShownTraffic | null>;
  /** The commands that an agent has said it does not support; null when no node that answers has the session. */
  announcedRefusals(sessionId: string): Promise<readonly AnnouncedRefusal[] | null>;
  /** The newest sign of life of agents; null when no node that answers knows of one. */
  newestRoundTrip(sessionIds: readonly string[]): Promise<ShownRoundTrip | null>;
}

/** The last requests of every endpoint, at all nodes. It waits for other nodes for a second at most. */
export type RequestLogReader = Pick<ClusterRequestLog, 'own' | 'newest' | 'read' | 'readEach'>;

/** What became of a trial. */
export interface DestinationTestResult {
  ok: boolean;
  /** Milliseconds from the first byte sent to the answer understood. */
  latencyMs: number;
  /** Of the event that was sent: `ev_…`. */
  eventId: string;
  /** Null when it was taken; else as `Reason` of events/sink.ts has them. */
  code: string | null;
  message: string | null;
}

/** What the API needs of delivery. */
export interface DestinationTester {
  /**
   * Sends one `event_destination_test.v0` event the way that all events go, but past those that wait. Takes 20 s at most.
   * @param target with its secrets in clear; undefined when they cannot be read.
   * @throws nothing: what fails is the outcome.
   */
  testDestination(
    target: Target | undefined,
    where: { destinationId: string; accountId: string },
  ): Promise<DestinationTestResult>;
}

/** What became of a notification that tried a channel. */
export interface ChannelTestResult {
  ok: boolean;
  /** `aln_…` */
  notificationId: string;
  latencyMs: number;
  /** Null when it was taken. */
  code: string | null;
  /** Why it was not taken; or a warning; mostly null. */
  message: string | null;
}

/** What the API needs of alerts. */
export interface AlertTester {
  /**
   * Sends one `alert_test` notification the way that all go. Takes 20 s at most.
   * @param of the account, and the name of the channel.
   * @throws nothing: what fails is the outcome.
   */
  testChannel(channel: OpenChannel, of: { accountId: string; name: string }): Promise<ChannelTestResult>;
  /** Begins to ask recipients of e-mail whether alerts may be sent to them, each at most once an hour. */
  inviteRecipients(channel: { id: string; accountId: string }, addresses: readonly string[]): void;
}

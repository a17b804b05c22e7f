// The types that the parts of a session share, and its dependencies.

import type { Auth } from '../../protocol/messages/auth.ts';
import type { ErrorCode } from '../../protocol/mux/stream.ts';
import type { BindDeps, BindingSession } from '../bind/bind-tunnel.ts';
import type { AgentAddresses } from '../control/agent-addresses.ts';
import type { AgentError } from '../control/agent-errors.ts';
import type { AgentKind } from '../control/compatibility.ts';
import type { RefusalCounters } from '../control/refusal-counters.ts';
import type { AgentCommand } from '../control/session-commands.ts';
import type { EndpointRegistry } from '../endpoints/endpoint-registry.ts';
import type { LiveTunnel } from '../endpoints/live-tunnel.ts';
import type { AccountQuota, AccountQuotas } from './account-quotas.ts';
import type { AuthtokenThrottle } from './authtoken-throttle.ts';

/** The session of an admitted agent. */
export interface AdmittedSession extends BindingSession {
  /** The id of the agent, which is the same after a reconnect. */
  clientId: string;
  /** The number of the session among those that the agent has at once. */
  leg: number;
  cookie: string;
  /** The address that it came from. */
  ip: string;
  /** Which authtoken of its credential the agent came with, as in `Grant`. */
  tokenNumber: number;
  kind: AgentKind;
  auth: Auth;
  /** The quota of the account. It must be released when the session ends. */
  quota: AccountQuota;
}

/** A heartbeat that the agent answered. */
export interface RoundTrip {
  /** The time of the response, in milliseconds of the wall clock. */
  at: number;
  /** The duration. */
  milliseconds: number;
}

/** A command that an agent has said it does not support. */
export interface AnnouncedRefusal {
  command: 'restart' | 'stop' | 'update';
  /** As the agent gives it. */
  reason: string;
}

/** The tunnels that a session serves. */
export interface ServedTunnels {
  /** Tunnels with an address. */
  readonly addressed: LiveTunnel[];
  /** Tunnels with labels. */
  readonly labelled: [tunnelId: string, labels: Record<string, string>][];
  /** Whether no visitor has a stream of the session, or waits for one. */
  readonly isIdle: boolean;
  /** Refuses new streams, and takes the tunnels from the lookup of endpoints. Streams that are open go on. */
  suspend(): void;
  /** As `suspend`, but visitors who have found a tunnel already still get their streams. */
  leave(): void;
  /** Undoes `suspend`. */
  resume(): void;
}

/** The part of a session that the session registry uses. */
export interface RegisteredSession {
  /** The admitted agent; undefined before admission. */
  readonly accepted: (AdmittedSession & { tunnels: ServedTunnels }) | undefined;
  /** The last heartbeat that the agent answered; undefined before the first. */
  readonly roundTrip: RoundTrip | undefined;
  /** Closes the session. @param code with NONE, its addresses are released at once. */
  close(code: ErrorCode, message: string): void;
  /** Asks the agent for a sign of life. Without one in its time, the session ends. */
  isAlive(): Promise<boolean>;
  /** Stops one tunnel and sends the agent the reason. */
  stopTunnel(id: string, error: AgentError): Promise<void>;
  /** Sends a command. @returns null when the agent accepts it, otherwise its reason. */
  command(command: AgentCommand): Promise<string | null>;
}

/** The registry of all sessions of this node. */
export interface SessionRegistry {
  /** The counters of refusals on this node. */
  readonly refusals: RefusalCounters;
  add(session: RegisteredSession, admitted: AdmittedSession): void;
  /**
   * Closes the earlier session of an agent with this leg number at once. Its addresses stay reserved, as the agent is about to
   * bind them again.
   * @param by who takes its place, for the people of the agent: two devices may have one identity.
   */
  evict(accountId: string, clientId: string, leg: number, by: string): void;
  /** Removes a closed session. The report to the control plane is retried until it succeeds. */
  remove(session: RegisteredSession, admitted: AdmittedSession, end: SessionEnd): void;
}

/** How a session ended. */
export interface SessionEnd {
  /** The time for which its addresses stay reserved; milliseconds. */
  holdMs: number;
  reason: string;
  /** Whether the agent closed the session on purpose, without a failure. */
  isGraceful: boolean;
  /** The command that made the agent close it; undefined when there was none. */
  cause: string | undefined;
}

/** The dependencies of a session. */
export interface SessionDeps extends BindDeps {
  endpoints: EndpointRegistry;
  sessions: SessionRegistry;
  /** From where agents may connect. */
  addresses: AgentAddresses;
  authtokenThrottle: AuthtokenThrottle;
  quotas: AccountQuotas;
  /** The wall clock, in milliseconds. */
  time(): number;
  /** Whether the gateway is stopping, so that agents will reconnect. */
  isStopping(): boolean;
  /** Called with an unexpected error, for the log. */
  onFailure(error: unknown): void;
  /** Called with an event for the log. */
  onEvent(text: string, details: Record<string, unknown>): void;
}

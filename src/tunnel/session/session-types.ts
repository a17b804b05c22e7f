// What the parts of a session know of each other and of the rest of the gateway.

import type { Auth } from '../../protocol/messages/messages.ts';
import type { ErrorCode } from '../../protocol/mux/stream.ts';
import type { BindDeps, BindingSession } from '../bind/bind-tunnel.ts';
import type { AgentError } from '../control/agent-errors.ts';
import type { AgentKind } from '../control/compatibility.ts';
import type { RefusalCounters } from '../control/refusal-counters.ts';
import type { SessionCommand } from '../control/session-commands.ts';
import type { EndpointRegistry } from '../endpoints/endpoint-registry.ts';
import type { LiveTunnel } from '../endpoints/live-tunnel.ts';
import type { AccountQuota, AccountQuotas } from './account-quotas.ts';
import type { AuthtokenThrottle } from './authtoken-throttle.ts';

/** An agent that was let in. */
export interface AdmittedSession extends BindingSession {
  /** What the agent is known by over reconnects. */
  clientId: string;
  cookie: string;
  kind: AgentKind;
  auth: Auth;
  /** What it has together with the other agents of its account. It is to leave it when its session is over. */
  quota: AccountQuota;
}

/** A sign of life that was asked for, and came. */
export interface RoundTrip {
  /** The wall clock, in milliseconds. */
  at: number;
  milliseconds: number;
}

/** What a session serves. */
export interface ServedTunnels {
  /** Tunnels with an address. */
  readonly addressed: LiveTunnel[];
  readonly labelled: [tunnelId: string, labels: Record<string, string>][];
}

/** A session, as the register of all of them sees it. */
export interface RegisteredSession {
  /** Undefined until the agent was let in. */
  readonly accepted: (AdmittedSession & { tunnels: ServedTunnels }) | undefined;
  /** The last sign of life that came back; undefined before the first. */
  readonly roundTrip: RoundTrip | undefined;
  /** Ends the session. @param code NONE frees its addresses at once. */
  close(code: ErrorCode, message: string): void;
  /** Stops one tunnel, and tells the agent why. */
  stopTunnel(id: string, error: AgentError): Promise<void>;
  /** @returns null when the agent does it, or its reason why not. */
  command(command: SessionCommand): Promise<string | null>;
}

/** All sessions of this node. */
export interface SessionRegistry {
  /** What agents were refused on this node. */
  readonly refusals: RefusalCounters;
  add(session: RegisteredSession, admitted: AdmittedSession): void;
  /** Ends what an agent left behind, at once. Its addresses are kept, as it is about to ask for them again. */
  evict(accountId: string, clientId: string): void;
  /** The session is over. The control plane is told until it has heard. */
  remove(session: RegisteredSession, admitted: AdmittedSession, end: SessionEnd): void;
}

/** How a session ended. */
export interface SessionEnd {
  /** How long its addresses are kept; milliseconds. */
  holdMs: number;
  reason: string;
  /** Whether the agent left of its own accord: nothing went wrong. */
  isGraceful: boolean;
  /** What made it do so; undefined when nobody told it to. */
  cause: string | undefined;
}

/** What a session needs of the rest of the gateway. */
export interface SessionDeps extends BindDeps {
  endpoints: EndpointRegistry;
  sessions: SessionRegistry;
  authtokenThrottle: AuthtokenThrottle;
  quotas: AccountQuotas;
  /** The wall clock, in milliseconds. */
  time(): number;
  /** Whether the gateway is being stopped, so that agents will be back. */
  isStopping(): boolean;
  /** Told what was not expected, for the log. */
  onFailure(error: unknown): void;
  onEvent(text: string, details: Record<string, unknown>): void;
}

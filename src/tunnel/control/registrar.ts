// The interface between the tunnel layer and the control plane. `store` implements it with rows that belong to this node and are
// valid while the node's lease holds.

import type { Proto } from '../endpoints/endpoint.ts';
import type { RouteSource } from './routes.ts';
import type { ServingSession } from './session-commands.ts';

/** The account and permissions of an authtoken. */
export interface Grant {
  credentialId: string;
  accountId: string;
  /** Rules in the grammar of `acl.ts`. */
  acl: readonly string[];
  /** Which of the credential's authtokens it is, from 0: each replacement adds one. `grant` tells of the newest. */
  tokenNumber: number;
  /** Until when the authtoken before the newest is accepted, too, in milliseconds of the wall clock; null when it is not. */
  previousUntil: number | null;
}

/** What an agent says of itself, by which people tell it from others. */
export interface AgentReport {
  /** What it is recognized by over restarts, also with another credential; '' when it has none. */
  deviceId: string;
  /** The name that it gives itself; '' for none. */
  name: string;
  hostName: string;
  /** Values by key. */
  labels: Record<string, string>;
  /** The commands that it does not follow, with the reason. */
  refusals: Partial<Record<'restart' | 'stop' | 'update', string>>;
}

/** A new session of an authenticated agent. */
export interface OpenedSession {
  accountId: string;
  credentialId: string;
  /** Identifies the agent across reconnects. */
  clientId: string;
  /**
   * The number of the session among those that the agent has at once. An older session of the same agent with the same number,
   * on any node, ends now.
   */
  leg: number;
  /** Whether that session stays, with another number, as the agent moves. It does so only where its credential is the same. */
  moves: boolean;
  agentVersion: string;
  /** The agent's address as the gateway sees it. */
  ip: string;
  os: string;
  /** The processor architecture that the agent reports. */
  arch: string;
  userAgent: string;
  metadata: string;
  /** What the agent says of itself; left out by a worker of an earlier version. */
  agent?: AgentReport | undefined;
  /** Which authtoken it came with, as in `Grant`; left out likewise. */
  tokenNumber?: number | undefined;
  /** The local address of the connection, and the server name of the TLS handshake, or ''. */
  ingress: { serverIp: string; hostname: string };
  /** The protocol between agent and gateway, such as `muxado/2`. */
  transport: string;
}

/** A request to serve a public address. */
export interface BindRequest {
  sessionId: string;
  /** The id of the tunnel to resume, for which the agent has presented a valid bind token; null for a new tunnel. */
  resume: string | null;
  proto: Proto;
  /** Lower case; a wildcard begins with `*.`. For `tcp` the host of the public address. */
  hostname: string;
  /** The port that visitors connect to. */
  port: number;
  /** Whether the gateway generated the name, or the port of a TCP address, as the agent requested none. */
  isGenerated: boolean;
  publicUrl: string;
  /** Whether other tunnels of the account that set it too may serve the same address. */
  pooling: boolean;
  /** What the agent calls it; '' for nothing, left out by a worker of an earlier version. */
  name?: string | undefined;
  forwardsTo: string;
  /** What the agent speaks to an HTTP upstream; '' of tcp and tls, left out likewise. */
  upstreamProtocol?: 'http1' | 'http2' | '' | undefined;
  metadata: string;
}

/** A request for a tunnel without an address, which edges select by its labels. */
export interface LabelBindRequest {
  sessionId: string;
  /** As in `BindRequest`. */
  resume: string | null;
  labels: Record<string, string>;
  forwardsTo: string;
  metadata: string;
}

/** The reason of a refusal; `bind-errors.ts` has the numbers and texts. */
export type AgentRefusal =
  | { refused: 'authtokenMalformed' | 'authtokenUnknown' | 'authtokenInactive' }
  | { refused: 'nameDenied' | 'addressDenied' | 'anyPortDenied' | 'labelDenied'; target: string }
  | { refused: 'notReserved' | 'reservedByOther' | 'addressReserved' | 'onEdge'; target: string }
  /** `rivals`: sessions of the same credential that serve it, where nobody else does. If they are over, it is not in use. */
  | { refused: 'inUse'; target: string; rivals?: readonly ServingSession[] }
  /** The session ended meanwhile, or its credential was revoked. */
  | { refused: 'sessionEnded' };

/** A bind that was refused, for the audit trail. */
export interface BindRefusal {
  sessionId: string;
  accountId: string;
  credentialId: string;
  /** The address or the labels, for people. */
  asked: string;
  /** The error that the agent got. */
  reason: string;
}

/** The control plane as the tunnel layer sees it: credentials, sessions and binds. */
export interface Registrar extends RouteSource {
  /** The id of this node: `node_…`. */
  readonly nodeId: string;
  /** Looks up an authtoken. It renews a digest that was made with the previous server key. */
  authenticate(authtoken: string): Promise<Grant | AgentRefusal>;
  /** The current grant; null when the credential was deleted or its owner is not active. */
  grant(credentialId: string): Promise<Grant | null>;
  /** Subscribes to possible changes of the grant of one credential, or of all (null). @returns the function that unsubscribes. */
  onGrantChange(listener: (credentialId: string | null) => void): () => void;
  /** Subscribes to sessions of this node that ended because their agent connected to another node. @returns likewise. */
  onSessionReplaced(listener: (sessionId: string) => void): () => void;
  /** Subscribes to renewals of this node's lease after it had ended: others may have taken over some of its tunnels. */
  onLeaseRevived(listener: () => void): void;
  /** @returns those of the tunnels that this node serves no longer, as other agents have bound their addresses. */
  takenTunnels(tunnelIds: readonly string[]): Promise<string[]>;
  /** @returns the session's id. */
  sessionOpened(session: OpenedSession): Promise<string>;
  /**
   * Ends a session with all its tunnels and endpoints, but for those that another session of its agent serves too. An unknown id is
   * no error, as the session may have ended already.
   * @param holdMs how long its addresses stay reserved for its credential; 0 frees them at once.
   * @param reason the error, for people; '' or left out when the agent closed the session gracefully.
   * @param cause the command that made the agent close it, for people; left out when there was none.
   */
  sessionClosed(sessionId: string, holdMs: number, reason?: string, cause?: string): Promise<void>;
  /**
   * Checks and registers in one transaction: the API shows a registered tunnel as live, and a refusal leaves no rows. A tunnel that
   * another session of the same agent serves is served by both from then on.
   */
  bind(request: BindRequest): Promise<{ tunnelId: string; endpointId: string } | AgentRefusal>;
  bindLabels(request: LabelBindRequest): Promise<{ tunnelId: string } | AgentRefusal>;
  /** Records that a bind was refused, a few times a minute for each credential. */
  bindRefused(refusal: BindRefusal): Promise<void>;
  /**
   * Ends a tunnel, unless another session of the agent serves it too. Of a tunnel that is not the session's, nothing ends.
   * @param reason the error, for people; left out when the agent closed the tunnel.
   */
  tunnelClosed(sessionId: string, tunnelId: string, reason?: string): Promise<void>;
  /**
   * Takes a session out of its tunnels, if another session of its agent serves all of them, too: visitors go there from now on.
   * @returns whether it serves none any more.
   */
  leaveTunnels(sessionId: string): Promise<boolean>;
  /** Changes what the API shows of a live tunnel and its endpoint. */
  tunnelChanged(tunnelId: string, change: { metadata: string }): Promise<void>;
}

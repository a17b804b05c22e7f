// What the tunnel side asks of the control plane. `store` answers with rows that belong to this node and count while
// the node's lease holds.

import type { Proto } from '../endpoints/endpoint.ts';

/** What the holder of an authtoken may do. */
export interface Grant {
  credentialId: string;
  accountId: string;
  /** Rules as `acl.ts` reads them. */
  acl: readonly string[];
}

/** An agent's session, as it was accepted. */
export interface OpenedSession {
  accountId: string;
  credentialId: string;
  /** What the agent is known by over reconnects. A session with the same one, on any node, ends now. */
  clientId: string;
  agentVersion: string;
  /** The agent's address as the gateway sees it. */
  ip: string;
  os: string;
  /** The agent's processor, as it says. */
  arch: string;
  userAgent: string;
  metadata: string;
  /** Where the agent came in: of the gateway, the address of the connection and the name it was asked for, or ''. */
  ingress: { serverIp: string; hostname: string };
  /** The protocol between agent and gateway, as `muxado/2`. */
  transport: string;
}

/** A request to serve a public address. */
export interface BindRequest {
  sessionId: string;
  /** The tunnel that is to be had back, under its id: the agent has proven that it was its own. Otherwise null. */
  resume: string | null;
  proto: Proto;
  /** Lower case; a wildcard begins with `*.`. For `tcp` the host that addresses are shown with. */
  hostname: string;
  /** The port that visitors come to. */
  port: number;
  /** Whether the gateway chose the name, or the port of a TCP address: nobody asked for it. */
  chosen: boolean;
  publicUrl: string;
  /** Whether it may be shared with other tunnels of the account that also say so. */
  pooling: boolean;
  forwardsTo: string;
  metadata: string;
}

/** A tunnel without an address, which edges choose by its labels. */
export interface LabelBindRequest {
  sessionId: string;
  labels: Record<string, string>;
  forwardsTo: string;
  metadata: string;
}

/** Why an agent was refused; `bind-errors.ts` has the numbers and texts. */
export type AgentRefusal =
  | { refused: 'authtokenMalformed' | 'authtokenUnknown' | 'authtokenInactive' }
  | { refused: 'nameDenied' | 'addressDenied' | 'anyPortDenied' | 'labelDenied'; target: string }
  | { refused: 'notReserved' | 'reservedByOther' | 'onEdge' | 'inUse'; target: string }
  /** The session ended meanwhile, or its credential was revoked. */
  | { refused: 'sessionEnded' };

export interface Registrar {
  /** Whose authtoken this is. A digest made under the previous server key is renewed. */
  authenticate(authtoken: string): Promise<Grant | AgentRefusal>;
  /** The grant as it is now; null when the credential is gone or its owner is not active. */
  grant(credentialId: string): Promise<Grant | null>;
  /** Hears when what credentials may do may have changed: of one, or of all (null). Ends with the returned function. */
  onGrantChange(listener: (credentialId: string | null) => void): () => void;
  /** Hears when a session of this node was ended by another node, as its agent is there now. */
  onSessionReplaced(listener: (sessionId: string) => void): () => void;
  /** @returns the session's id. */
  sessionOpened(session: OpenedSession): Promise<string>;
  /**
   * Ends a session with all its tunnels and endpoints. Unknown ids are no error: it may be gone already.
   * @param holdMs how long its addresses stay reserved for its credential; 0 frees them at once.
   * @param reason why, for people; '' or left out when the agent said good-bye.
   * @param cause what made it say so, for people; left out when it left of its own accord.
   */
  sessionClosed(sessionId: string, holdMs: number, reason?: string, cause?: string): Promise<void>;
  /** Decides and registers in one transaction: what is answered is live for the API, what is refused left nothing. */
  bind(request: BindRequest): Promise<{ tunnelId: string; endpointId: string } | AgentRefusal>;
  bindLabels(request: LabelBindRequest): Promise<{ tunnelId: string } | AgentRefusal>;
  /** @param reason why, for people; left out when its agent closed it. */
  tunnelClosed(tunnelId: string, reason?: string): Promise<void>;
  /** Changes what the API shows of a live tunnel and its endpoint. */
  tunnelChanged(tunnelId: string, change: { metadata: string }): Promise<void>;
  /** What is known of a name that no endpoint of this node serves. */
  lookUpName(listener: 'http' | 'tls', hostname: string): Promise<'unknown' | 'offline' | 'elsewhere'>;
}

// What the tunnel side tells the control plane: which sessions, tunnels and endpoints live on this node right now.

/** An agent's session, as it was accepted. */
export interface OpenedSession {
  accountId: string;
  credentialId: string;
  agentVersion: string;
  /** The agent's address as the gateway sees it. */
  ip: string;
  os: string;
  metadata: string;
  /** The protocol between agent and gateway, as `muxado/2`. */
  transport: string;
}

/** A tunnel with a public address of its own. */
export interface OpenedTunnel {
  sessionId: string;
  proto: 'http' | 'https' | 'tcp' | 'tls';
  hostname: string;
  port: number;
  publicUrl: string;
  forwardsTo: string;
  metadata: string;
}

/** A tunnel without an address, which edges choose by its labels. */
export interface OpenedLabelTunnel {
  sessionId: string;
  labels: Record<string, string>;
  forwardsTo: string;
  metadata: string;
}

/** `store` answers with rows that belong to this node; they count while the node's lease holds. */
export interface Registrar {
  /** @returns the session's id. */
  sessionOpened(session: OpenedSession): Promise<string>;
  /** Ends a session with all its tunnels and endpoints. Unknown ids are no error: it may be gone already. */
  sessionClosed(sessionId: string): Promise<void>;
  tunnelOpened(tunnel: OpenedTunnel): Promise<{ tunnelId: string; endpointId: string }>;
  labelTunnelOpened(tunnel: OpenedLabelTunnel): Promise<{ tunnelId: string }>;
  tunnelClosed(tunnelId: string): Promise<void>;
}

/** The configuration of the tunnel layer. Times are in milliseconds. */
export interface TunnelSettings {
  /** The parent domain of generated names and the host of TCP addresses. */
  baseDomain: string;
  /** The host names of the gateway itself, in lower case. No tunnel or edge gets one of them. */
  ownNames: ReadonlySet<string>;
  /** The region of endpoints, tunnels and sessions. */
  region: string;
  /** The addresses of all nodes for agents, `host:port`, which agents are told; empty when they are told none. */
  agentAddresses: readonly string[];
  /** A line for the users of existing agents; '' for none. */
  agentBanner: string;
  /** The port range of TCP endpoints; `0` to `0` means any free port. */
  tcpPorts: { first: number; last: number };
  /** The limit for connections of the agent listener. */
  maxAgents: number;
  /** The limits of one account on this node. */
  maxSessionsPerAccount: number;
  maxTcpPortsPerAccount: number;
  /** The ports that the URLs of endpoints show. */
  publicHttpPort: number;
  publicHttpsPort: number;
  /** The time between two heartbeats. */
  heartbeatInterval: number;
  /** How long the answer to a heartbeat may take, beyond the interval, before the gateway ends the session. */
  heartbeatTolerance: number;
  /** How long the addresses of a lost session stay reserved for its credential. */
  sessionHold: number;
}

/** What the tunnel side needs to be told. Times are milliseconds. */
export interface TunnelSettings {
  /** Names below it are the gateway's own; TCP addresses are shown under it. */
  baseDomain: string;
  /** Names that the gateway itself answers at, in lower case: no tunnel or edge gets one of them. */
  ownNames: ReadonlySet<string>;
  /** What endpoints, tunnels and sessions show as their region. */
  region: string;
  /** The ports that TCP endpoints may have; `0` to `0` is any free one. */
  tcpPorts: { first: number; last: number };
  /** Connections of the agent listener. */
  maxAgents: number;
  /** Of one account, on this node: sessions, and ports of TCP endpoints. */
  maxSessionsPerAccount: number;
  maxTcpPortsPerAccount: number;
  /** The ports that the URLs of endpoints show. */
  publicHttpPort: number;
  publicHttpsPort: number;
  /** How often the gateway asks an agent for a sign of life. */
  heartbeatInterval: number;
  /** How long an answer may take on top of that before the session counts as dead. */
  heartbeatTolerance: number;
  /** How long the addresses of a lost session stay reserved for its credential. */
  sessionHold: number;
}

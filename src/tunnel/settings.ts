/** What the tunnel side needs to be told. Times are milliseconds. */
export interface TunnelSettings {
  /** Names below it are the gateway's own; TCP addresses are shown under it. */
  baseDomain: string;
  /** What endpoints, tunnels and sessions show as their region. */
  region: string;
  /** The ports that TCP endpoints may have; `0` to `0` is any free one. */
  tcpPorts: { first: number; last: number };
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

// The timeouts and delays of the client, in milliseconds.

/** The timeouts and delays of a client; milliseconds. */
export interface ClientTiming {
  /** The timeout for the name resolution and the TCP connection. */
  dial: number;
  /** The timeout of the TLS handshake. */
  tls: number;
  /** The timeout of the authentication. */
  auth: number;
  /** The timeout of a bind or an unbind. */
  bind: number;
  /** The time between a heartbeat's response and the next heartbeat. */
  heartbeatInterval: number;
  /** The time in which a heartbeat must be answered; otherwise the session ends. */
  heartbeatTolerance: number;
  /** The same two for a client with several legs: it has to notice that a machine is gone while another leg can serve. */
  legHeartbeatInterval: number;
  legHeartbeatTolerance: number;
  /**
   * The longest delay before a lost session is opened again while another leg is connected. It is long, so that the agents of a
   * lost node do not all return at once.
   */
  legRetry: number;
  /** The longest first delay before a reconnect. It doubles with each failure. */
  retryFirst: number;
  /** The limit of that delay while the last session ended less than `recent` ago: the gateway is probably restarting. */
  retryMaxRecent: number;
  recent: number;
  /** The limit of that delay later on. */
  retryMax: number;
  /** The average delay before a refused authtoken is tried again. It doubles up to `refusedSessionMax`. */
  refusedSession: number;
  refusedSessionMax: number;
  /**
   * The longest first delay after a session whose place another one took, as where two devices have one identity. It doubles up to
   * `replacedMax`.
   */
  replaced: number;
  replacedMax: number;
  /** The longest first delay before a refused tunnel is requested again. It doubles up to `refusedTunnelMax`. */
  refusedTunnel: number;
  refusedTunnelMax: number;
  /** The timeout for the connection to an upstream. */
  upstream: number;
  /** The time in which open streams may end when their tunnel or the agent stops. */
  drain: number;
  /** The time after the GOAWAY frame in which the connection must close. */
  goAway: number;
  /** A monotonic clock. The wall clock jumps on devices that set it after the start. */
  now(): number;
  /** A random number from 0 to below 1. */
  random(): number;
}

export const DEFAULT_TIMING: ClientTiming = {
  dial: 10_000,
  tls: 10_000,
  auth: 10_000,
  bind: 15_000,
  heartbeatInterval: 10_000,
  heartbeatTolerance: 15_000,
  legHeartbeatInterval: 2_000,
  legHeartbeatTolerance: 3_000,
  legRetry: 60_000,
  retryFirst: 500,
  retryMaxRecent: 2_000,
  recent: 60_000,
  retryMax: 15_000,
  refusedSession: 60_000,
  refusedSessionMax: 3_600_000,
  replaced: 2_000,
  replacedMax: 300_000,
  refusedTunnel: 5_000,
  refusedTunnelMax: 60_000,
  upstream: 10_000,
  drain: 7_000,
  goAway: 1_500,
  now: () => performance.now(),
  random: Math.random,
};

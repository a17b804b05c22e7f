// How long the agent waits, and for what. Everything is in milliseconds.

export interface ClientTiming {
  /** Until the gateway's name is resolved and TCP is connected. */
  dial: number;
  /** Until TLS is agreed on. */
  tls: number;
  /** Until the gateway has accepted the session, or not. */
  auth: number;
  /** Until a bind or an unbind is answered. */
  bind: number;
  /** Between a sign of life and the next question for one. */
  heartbeatInterval: number;
  /** What a sign of life may take; without one the session is given up. */
  heartbeatTolerance: number;
  /** The most that the first wait before dialling again may be; it doubles with each failure. */
  retryFirst: number;
  /** What that grows to while the last session is less than `recent` ago: the gateway is probably being restarted. */
  retryMaxRecent: number;
  recent: number;
  /** What it grows to after that. */
  retryMax: number;
  /** Before a refused authtoken is tried again, on average. */
  refusedSession: number;
  /** The most before a refused tunnel is asked for again, the first time; it doubles up to `refusedTunnelMax`. */
  refusedTunnel: number;
  refusedTunnelMax: number;
  /** Until the place that a tunnel forwards to has accepted a connection. */
  upstream: number;
  /** What visitors under way get to come to their end when their tunnel or the agent stops. */
  drain: number;
  /** Until the connection is closed, after the good-bye. */
  goAway: number;
  /** A clock that never goes back; the time of day does, on devices that learn it late. */
  now(): number;
  /** From 0 to below 1. */
  random(): number;
}

export const DEFAULT_TIMING: ClientTiming = {
  dial: 10_000,
  tls: 10_000,
  auth: 10_000,
  bind: 15_000,
  heartbeatInterval: 10_000,
  heartbeatTolerance: 15_000,
  retryFirst: 500,
  retryMaxRecent: 2_000,
  recent: 60_000,
  retryMax: 15_000,
  refusedSession: 60_000,
  refusedTunnel: 5_000,
  refusedTunnelMax: 60_000,
  upstream: 10_000,
  drain: 7_000,
  goAway: 1_500,
  now: () => performance.now(),
  random: Math.random,
};

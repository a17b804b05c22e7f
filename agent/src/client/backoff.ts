// The delays before retries. There is no last attempt: an agent retries for as long as it runs.

import type { ClientTiming } from './timing.ts';

type Randomness = Pick<ClientTiming, 'random'>;

/**
 * The delay before the next connection: exponential backoff with full jitter, so that the agents of a restarted gateway do
 * not all reconnect at once.
 * @param failures consecutive failures, from 1.
 * @param sinceSession the milliseconds since the last session ended; Infinity when there was none.
 */
export function reconnectDelay(
  failures: number,
  sinceSession: number,
  timing: Randomness & Pick<ClientTiming, 'retryFirst' | 'retryMaxRecent' | 'retryMax' | 'recent'>,
): number {
  const max = sinceSession < timing.recent ? timing.retryMaxRecent : timing.retryMax;
  return timing.random() * doubling(timing.retryFirst, failures, max);
}

/** The delay before a session that was lost while another leg is connected is opened again. */
export function lostLegDelay(timing: Randomness & Pick<ClientTiming, 'legRetry'>): number {
  return timing.random() * timing.legRetry;
}

/**
 * The delay before the next attempt to connect while another leg is connected.
 * @param failures consecutive failures, from 1.
 */
export function spareLegDelay(
  failures: number,
  timing: Randomness & Pick<ClientTiming, 'retryFirst' | 'legRetry'>,
): number {
  return timing.random() * doubling(timing.retryFirst, failures, timing.legRetry);
}

/**
 * The delay before a refused authtoken is tried again. It is long, as a person must act first and each attempt costs a
 * handshake.
 * @param refusals consecutive refusals, from 1.
 */
export function refusedSessionDelay(
  refusals: number,
  timing: Randomness & Pick<ClientTiming, 'refusedSession' | 'refusedSessionMax'>,
): number {
  return doubling(timing.refusedSession, refusals, timing.refusedSessionMax) * (0.75 + timing.random() / 2);
}

/**
 * The delay after a session whose place another one took; it is never 0.
 * @param times how often that was so in a row, from 1.
 */
export function replacedDelay(
  times: number,
  timing: Randomness & Pick<ClientTiming, 'replaced' | 'replacedMax'>,
): number {
  return doubling(timing.replaced, times, timing.replacedMax) * (0.5 + timing.random() / 2);
}

/**
 * The delay before a refused tunnel is requested again; it is never 0.
 * @param refusals consecutive refusals, from 1.
 */
export function refusedTunnelDelay(
  refusals: number,
  timing: Randomness & Pick<ClientTiming, 'refusedTunnel' | 'refusedTunnelMax'>,
): number {
  return doubling(timing.refusedTunnel, refusals, timing.refusedTunnelMax) * (0.5 + timing.random() / 2);
}

function doubling(first: number, nth: number, max: number): number {
  return Math.min(max, first * 2 ** (nth - 1));
}

// How long to wait before the next attempt. Nothing here ends: an agent tries for as long as it runs.

import type { ClientTiming } from './timing.ts';

type Rules = Pick<ClientTiming, 'random'>;

/**
 * Before dialling again: anything from nothing to a limit that doubles (full jitter), so that the agents of a gateway that
 * was restarted do not all come at once.
 * @param failures in a row, from 1.
 * @param sinceSession since the last session ended; Infinity where there was none.
 */
export function reconnectDelay(
  failures: number,
  sinceSession: number,
  timing: Rules & Pick<ClientTiming, 'retryFirst' | 'retryMaxRecent' | 'retryMax' | 'recent'>,
): number {
  const max = sinceSession < timing.recent ? timing.retryMaxRecent : timing.retryMax;
  return timing.random() * doubling(timing.retryFirst, failures, max);
}

/** Before a refused authtoken is tried again: people must act first, and a try costs the gateway a handshake. */
export function refusedSessionDelay(timing: Rules & Pick<ClientTiming, 'refusedSession'>): number {
  return timing.refusedSession * (0.75 + timing.random() / 2);
}

/**
 * Before a refused tunnel is asked for again: never at once.
 * @param refusals in a row, from 1.
 */
export function refusedTunnelDelay(
  refusals: number,
  timing: Rules & Pick<ClientTiming, 'refusedTunnel' | 'refusedTunnelMax'>,
): number {
  return doubling(timing.refusedTunnel, refusals, timing.refusedTunnelMax) * (0.5 + timing.random() / 2);
}

function doubling(first: number, nth: number, max: number): number {
  return Math.min(max, first * 2 ** (nth - 1));
}

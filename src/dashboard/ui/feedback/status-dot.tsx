import type { ComponentChildren } from 'preact';
import { now } from '../../data/clock.ts';

/** The oldest round trip that counts as live: heartbeats are sent every 10 s and wait 15 s at most. */
const MAX_ROUND_TRIP_AGE_MS = 30_000;

export interface StatusDotProps {
  /** `live` is shown only if `roundTripAt` is recent. */
  state: 'live' | 'warn' | 'failing' | 'off' | 'unknown';
  /** When the last heartbeat came back. */
  roundTripAt?: string | null;
  /** The label; without it, the default of the state. */
  children?: ComponentChildren;
}

const LABELS = { live: 'live', warn: 'needs a look', failing: 'failing', off: 'offline', unknown: 'not known' };

/** A coloured dot with a label. It is green only after a recent round trip. */
export function StatusDot({ state, roundTripAt, children }: StatusDotProps) {
  const shown = state === 'live' && !isRecent(roundTripAt) ? 'unknown' : state;
  const isStale = shown !== state;
  return (
    <span class={`dot ${shown}`} title={isStale ? 'No heartbeat came back in the last 30 s' : undefined}>
      <span class="dot-mark" aria-hidden="true" />
      {isStale ? (roundTripAt ? 'no sign of life' : 'no round trip yet') : (children ?? LABELS[state])}
    </span>
  );
}

function isRecent(roundTripAt: string | null | undefined): boolean {
  return Boolean(roundTripAt) && now.value - Date.parse(roundTripAt ?? '') < MAX_ROUND_TRIP_AGE_MS;
}

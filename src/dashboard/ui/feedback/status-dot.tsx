import { now } from '../../data/clock.ts';

/** No round trip is newer than this while its agent is there: heartbeats go every 10 s, and wait 15 s at most. */
const MAX_ROUND_TRIP_AGE_MS = 30_000;

export interface StatusDotProps {
  /** `live` is only shown as such when `roundTripAt` is young enough. */
  state: 'live' | 'warn' | 'off' | 'unknown';
  /** When a heartbeat last came back. */
  roundTripAt?: string | null;
  /** What is said beside the dot; without it the state's own word. */
  children?: string;
}

const LABELS = { live: 'live', warn: 'needs a look', off: 'offline', unknown: 'not known' };

/** A state as a coloured dot with words. Green is only what a round trip has proved. */
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

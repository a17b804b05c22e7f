// The range of time that charts show. It is in the URL, so that a link shows the same.

import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The ranges up to now, by their names in the URL. */
export const RECENT_RANGES = {
  '15m': { title: 'Last 15 minutes', lengthMs: 15 * MINUTE_MS },
  '1h': { title: 'Last hour', lengthMs: HOUR_MS },
  '6h': { title: 'Last 6 hours', lengthMs: 6 * HOUR_MS },
  '24h': { title: 'Last 24 hours', lengthMs: DAY_MS },
  '7d': { title: 'Last 7 days', lengthMs: 7 * DAY_MS },
  '30d': { title: 'Last 30 days', lengthMs: 30 * DAY_MS },
} as const;

export type RecentRange = keyof typeof RECENT_RANGES;

/** A range up to now, or one between two points of time, in milliseconds since 1970. */
export type TimeRange = { recent: RecentRange } | { from: number; to: number };

const DEFAULT_RANGE: RecentRange = '1h';

/** The range that the URL names, and a function that changes it there. */
export function useTimeRange(): [TimeRange, (range: TimeRange) => void] {
  const { path, query, route } = useLocation();
  const { range, from, to } = query;
  const current = useMemo(() => readRange({ range, from, to }), [range, from, to]);
  return [current, (next) => route(`${path}?${new URLSearchParams({ ...without(query), ...writeRange(next) })}`)];
}

/** Reads the range of an URL; what cannot be read is the default. */
export function readRange({ range, from, to }: Record<string, string | undefined>): TimeRange {
  const [begin, end] = [Date.parse(from ?? ''), Date.parse(to ?? '')];
  if (begin < end) return { from: begin, to: end };
  return {
    recent: range !== undefined && Object.hasOwn(RECENT_RANGES, range) ? (range as RecentRange) : DEFAULT_RANGE,
  };
}

/** The parameters of a range for an URL. */
export function writeRange(range: TimeRange): Record<string, string> {
  if ('recent' in range) return { range: range.recent };
  return { from: new Date(range.from).toISOString(), to: new Date(range.to).toISOString() };
}

/** The beginning and the end of a range at a point of time, in milliseconds. */
export function boundsOf(range: TimeRange, now: number): { from: number; to: number } {
  return 'recent' in range ? { from: now - RECENT_RANGES[range.recent].lengthMs, to: now } : range;
}

function without({ range: _range, from: _from, to: _to, ...others }: Record<string, string>): Record<string, string> {
  return others;
}

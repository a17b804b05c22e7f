// Durations in settings, such as `90s`.

const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600 };
const UPSTREAM_TIMEOUT_MAX = 3600;

/** Parses how long an upstream may take until its response begins. @returns seconds. @throws {Error} what is expected. */
export function readUpstreamTimeout(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? 0);
  if (seconds >= 1 && seconds <= UPSTREAM_TIMEOUT_MAX) return seconds;
  throw new Error('must be a time from 1s to 1h, as 90s or 5m');
}

import { now } from '../../data/clock.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

export interface RelativeTimeProps {
  /** An RFC 3339 timestamp. */
  at: string | null | undefined;
  /** The text if there is no time. */
  fallback?: string;
  /** `since` shows the duration, `3 h 5 min`, instead of `3 h ago`; `until` that which is left. */
  as?: 'ago' | 'since' | 'until';
}

/** A time relative to now. The exact time is in the tooltip. */
export function RelativeTime({ at, fallback = 'never', as = 'ago' }: RelativeTimeProps) {
  if (!at) return <span class="muted">{fallback}</span>;
  const seconds = (Date.parse(at) - now.value) / 1000;
  return (
    <time dateTime={at} title={exactFormat.format(new Date(at))}>
      {as === 'ago' ? formatRelative(seconds) : formatDuration(Math.max(0, as === 'until' ? seconds : -seconds))}
    </time>
  );
}

function formatRelative(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 5) return 'now';
  const length = size < DAY ? largestUnit(size) : formatDays(size);
  return seconds < 0 ? `${length} ago` : `in ${length}`;
}

function largestUnit(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  return seconds < HOUR ? `${Math.floor(seconds / MINUTE)} min` : `${Math.floor(seconds / HOUR)} h`;
}

function formatDays(seconds: number): string {
  const days = Math.round(seconds / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}

/** A duration in its two largest units. */
export function formatDuration(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  if (seconds < HOUR) return twoUnits(seconds, MINUTE, 'min', 1, 's');
  if (seconds < DAY) return twoUnits(seconds, HOUR, 'h', MINUTE, 'min');
  return twoUnits(seconds, DAY, 'd', HOUR, 'h');
}

function twoUnits(seconds: number, unit: number, name: string, smaller: number, smallerName: string): string {
  const rest = Math.floor((seconds % unit) / smaller);
  return `${Math.floor(seconds / unit)} ${name}${rest > 0 ? ` ${rest} ${smallerName}` : ''}`;
}

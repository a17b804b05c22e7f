import { now } from '../../data/clock.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

export interface WhenProps {
  /** RFC 3339. */
  at: string | null | undefined;
  /** What is said where there is no time. */
  never?: string;
  /** `since`: how long it has lasted, as `3 h 5 min`, instead of `3 h ago`. */
  as?: 'ago' | 'since';
}

/** A time as people say it; the exact one is in its title. */
export function When({ at, never = 'never', as = 'ago' }: WhenProps) {
  if (!at) return <span class="quiet">{never}</span>;
  const seconds = (Date.parse(at) - now.value) / 1000;
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {as === 'since' ? lasting(Math.max(0, -seconds)) : ago(seconds)}
    </time>
  );
}

function ago(seconds: number): string {
  const size = Math.abs(seconds);
  if (size < 5) return 'now';
  const length = size < DAY ? greatest(size) : daysIn(size);
  return seconds < 0 ? `${length} ago` : `in ${length}`;
}

function greatest(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  return seconds < HOUR ? `${Math.floor(seconds / MINUTE)} min` : `${Math.floor(seconds / HOUR)} h`;
}

function daysIn(seconds: number): string {
  const days = Math.round(seconds / DAY);
  return days === 1 ? '1 day' : `${days} days`;
}

/** A length of time in its two greatest units. */
export function lasting(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  if (seconds < HOUR) return two(seconds, MINUTE, 'min', 1, 's');
  if (seconds < DAY) return two(seconds, HOUR, 'h', MINUTE, 'min');
  return two(seconds, DAY, 'd', HOUR, 'h');
}

function two(seconds: number, unit: number, name: string, smaller: number, smallerName: string): string {
  const rest = Math.floor((seconds % unit) / smaller);
  return `${Math.floor(seconds / unit)} ${name}${rest > 0 ? ` ${rest} ${smallerName}` : ''}`;
}

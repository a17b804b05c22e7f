const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
const DAY_SECONDS = 86_400;

let day = Number.NaN;
let date = '';

/** RFC 3339 in UTC, to the millisecond. */
export function exactRfc3339(time: Date): string {
  const ms = String(time.getUTCMilliseconds()).padStart(3, '0');
  return `${rfc3339(time).slice(0, -1)}.${ms}Z`;
}

/** RFC 3339 in UTC, to the second. The date is kept from call to call: the rows of a list share a few days. */
export function rfc3339(time: Date): string {
  const seconds = Math.floor(time.getTime() / 1000);
  const today = Math.floor(seconds / DAY_SECONDS);
  if (today !== day) {
    date = time.toISOString().slice(0, 10);
    day = today;
  }
  const second = seconds - today * DAY_SECONDS;
  return `${date}T${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}Z`;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}

/** A point in time of RFC 3339, of whichever zone; undefined when it is none. */
export function parseRfc3339(text: string): Date | undefined {
  const date = RFC3339.test(text) ? new Date(text.toUpperCase()) : undefined;
  return date && Number.isFinite(date.getTime()) ? date : undefined;
}

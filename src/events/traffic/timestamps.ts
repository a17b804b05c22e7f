// Points in time as traffic events have them: RFC 3339 in UTC, with milliseconds.

const MILLISECONDS = Array.from({ length: 1000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`);

/**
 * A function that writes points in time, given in milliseconds since 1970. It keeps the second that it wrote last, as the
 * next is mostly the same: whoever writes moments that lie apart takes one for each.
 */
export function timestampWriter(): (ms: number) => string {
  let second = Number.NaN;
  let text = '';
  return (ms) => {
    const now = Math.floor(ms / 1000);
    if (now !== second) {
      text = new Date(now * 1000).toISOString().slice(0, -4);
      second = now;
    }
    return text + MILLISECONDS[Math.floor(ms) - now * 1000];
  };
}

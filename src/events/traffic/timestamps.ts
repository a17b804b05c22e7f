// Timestamps of traffic events: RFC 3339 in UTC, with milliseconds.

const MILLISECONDS = Array.from({ length: 1000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z"`);

/**
 * Returns a function that writes timestamps as JSON strings, given in milliseconds since 1970. It caches the second of its last timestamp,
 * because the next one is mostly in the same second. So each field uses a writer of its own.
 */
export function timestampWriter(): (ms: number) => string {
  let second = Number.NaN;
  let text = '';
  return (ms) => {
    const now = Math.floor(ms / 1000);
    if (now !== second) {
      text = `"${new Date(now * 1000).toISOString().slice(0, -4)}`;
      second = now;
    }
    return text + MILLISECONDS[Math.floor(ms) - now * 1000];
  };
}

// Durations in policies, such as `1m30s`.

const UNIT_MS: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;

/** Parses `10s`, `1m30s`, `1.5h` or `250ms`. @returns milliseconds; undefined when the text is no duration. */
export function readDuration(text: string): number | undefined {
  if (text.length > 50 || !DURATION.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit = ''] of text.matchAll(PART)) sum += Number(count) * (UNIT_MS[unit] as number);
  return sum;
}

/** Formats milliseconds as a duration: 90000 is `1m30s`. */
export function writeDuration(ms: number): string {
  if (ms % 1000 !== 0) return `${ms}ms`;
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms / 1000) % 60];
  return `${h ? `${h}h` : ''}${m ? `${m}m` : ''}${s || ms === 0 ? `${s}s` : ''}`;
}

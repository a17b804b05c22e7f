// Checks the timestamps of webhooks: an old message may be a replay.

/** A larger Unix time is in milliseconds: in seconds it would be after the year 5138. */
const SECONDS_MAX = 1e11;

/**
 * Checks the time of a signature. @returns the reason of a refusal; undefined when the time is accepted.
 * @param time the current time, in milliseconds.
 * @param tolerance the largest difference to the current time, in milliseconds, for clock skew and transport.
 */
export function timeProblem(timestamp: string, time: number, tolerance: number): string | undefined {
  const moment = parseTimestamp(timestamp);
  if (moment === undefined) return 'the time at which the request was signed cannot be read';
  if (Math.abs(time - moment) <= tolerance) return undefined;
  const seconds = Math.round((time - moment) / 1000);
  const distance = `${Math.abs(seconds)} s ${seconds > 0 ? 'ago' : 'from now'}`;
  return `the request was signed ${distance}, and up to ${tolerance / 1000} s are taken`;
}

/**
 * Parses Unix time in seconds or milliseconds, or a date of RFC 3339, which is UTC without a zone.
 * @returns milliseconds.
 */
function parseTimestamp(text: string): number | undefined {
  if (/^[0-9]{1,16}$/.test(text)) return Number(text) > SECONDS_MAX ? Number(text) : Number(text) * 1000;
  const [date, zone] = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const moment = date ? Date.parse(zone ? date : `${date}Z`) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}

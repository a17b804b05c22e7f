// When a webhook was signed, as its sender wrote it: what is old, somebody else may be sending again.

/** Unix time beyond this is in milliseconds: as seconds it would be the year 5138. */
const SECONDS_MAX = 1e11;

/**
 * What is wrong with the time at which a webhook was signed.
 * @param time now, in milliseconds.
 * @param tolerance how far from now it may be, in milliseconds: clocks differ, and a webhook may be under way for a while.
 */
export function timeProblem(timestamp: string, time: number, tolerance: number): string | undefined {
  const moment = momentOf(timestamp);
  if (moment === undefined) return 'the time at which the request was signed cannot be read';
  if (Math.abs(time - moment) <= tolerance) return undefined;
  const seconds = Math.round((time - moment) / 1000);
  const distance = `${Math.abs(seconds)} s ${seconds > 0 ? 'ago' : 'from now'}`;
  return `the request was signed ${distance}, and up to ${tolerance / 1000} s are taken`;
}

/** Unix time in seconds or milliseconds, or a date as in RFC 3339, which is UTC where no zone is said; in milliseconds. */
function momentOf(text: string): number | undefined {
  if (/^[0-9]{1,16}$/.test(text)) return Number(text) > SECONDS_MAX ? Number(text) : Number(text) * 1000;
  const [date, zone] = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const moment = date ? Date.parse(zone ? date : `${date}Z`) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment;
}

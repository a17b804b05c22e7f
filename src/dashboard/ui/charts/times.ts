// Points of time on charts, in the browser's time zone.

const DAY = 86_400;
const MINUTE = 60;

const clockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const exactClockFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const zoneFormat = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'longOffset' });

/** The labels of an axis. The first one of each day has the date. @param step between two of them, in seconds. */
export function timeLabels(seconds: readonly number[], step: number): string[] {
  let previousDay: string | undefined;
  return seconds.map((second) => {
    const date = new Date(second * 1000);
    const day = dayFormat.format(date);
    const isNewDay = day !== previousDay;
    previousDay = day;
    if (step >= DAY) return day;
    const clock = (step < MINUTE ? exactClockFormat : clockFormat).format(date);
    return isNewDay ? `${clock}\n${day}` : clock;
  });
}

/** `25 Nov, 15:04:10` */
export function timeText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return `${dayFormat.format(date)}, ${exactClockFormat.format(date)}`;
}

/** `Europe/Berlin, GMT+01:00` */
export function timeZoneText(): string {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const offset = zoneFormat.formatToParts(new Date()).find(({ type }) => type === 'timeZoneName')?.value;
  return zone === 'UTC' || offset === undefined ? zone : `${zone}, ${offset}`;
}

/** `10 s`, `1 min`, `1 h` */
export function stepText(seconds: number): string {
  if (seconds < MINUTE) return `${seconds} s`;
  return seconds < 3600 ? `${seconds / MINUTE} min` : `${seconds / 3600} h`;
}

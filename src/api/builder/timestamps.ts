const DAY_SECONDS = 86_400;

let day = Number.NaN;
let date = '';

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

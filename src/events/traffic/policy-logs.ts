// Serializes the entries of `log` actions for traffic events, limited in length: a policy can log megabytes for one request.

/** The most characters of all texts and names in the entries of one event; each other value counts as `VALUE_LENGTH`. */
const LOGS_LENGTH_MAX = 32 * 1024;
const VALUE_LENGTH = 8;

/** The first entries in JSON, as many as fit. @param entries objects that JSON can represent. */
export function writePolicyLogs(entries: readonly object[]): string {
  let remaining = LOGS_LENGTH_MAX;
  const firstOmitted = entries.findIndex((entry) => {
    remaining = remainingAfter(entry, remaining);
    return remaining < 0;
  });
  return JSON.stringify(firstOmitted < 0 ? entries : entries.slice(0, firstOmitted));
}

/** What remains of a length after a value. It stops reading the value once nothing remains. */
function remainingAfter(value: unknown, length: number): number {
  if (typeof value === 'string') return length - value.length;
  let remaining = length - VALUE_LENGTH;
  if (typeof value !== 'object' || value === null) return remaining;
  for (const name in value) {
    if (remaining < 0) return remaining;
    remaining = remainingAfter((value as Record<string, unknown>)[name], remaining - name.length);
  }
  return remaining;
}

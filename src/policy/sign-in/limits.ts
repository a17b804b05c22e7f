// What the settings of all sign-ins may be.

const [MINUTE, DAY] = [60_000, 86_400_000];

/** How long a session lives, how long without use, and when the provider is asked again; milliseconds. */
export const SESSION_TIMES = {
  max: { min: MINUTE, max: 365 * DAY, default: 14 * DAY },
  idle: { min: MINUTE, max: 365 * DAY, default: 3 * DAY },
  check: { min: 10_000, max: 30 * DAY },
} as const;

/** In bytes. */
export const CLIENT_BYTES_MAX = 512;
export const ISSUER_BYTES_MAX = 255;

export const SCOPES_MAX = 20;
const SCOPE_BYTES_MAX = 128;

/** @returns what is wrong with a scope (RFC 6749, section 3.3), worded to be read after its place; undefined when nothing is. */
export function scopeProblem(scope: string): string | undefined {
  if (/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope) && scope.length <= SCOPE_BYTES_MAX) return undefined;
  return `must be one scope of at most ${SCOPE_BYTES_MAX} characters`;
}

// Rounds of a test of which `npm test` has only the first, and `npm run soak -- long` all.

/** The rounds that are run. @param count how many `npm test` has. */
export function shortened<T>(rounds: readonly T[], count = 1): readonly T[] {
  return process.env.SOAK === 'long' ? rounds : rounds.slice(0, count);
}

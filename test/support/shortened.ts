// Rounds of a test of which `npm test` has only the first, and `npm run soak -- long` all.

/** Whether this is `npm run soak -- long`, on a machine that has nothing else to do. */
export const isLong = process.env.SOAK === 'long';

/** The rounds that are run. @param count how many `npm test` has. */
export function shortened<T>(rounds: readonly T[], count = 1): readonly T[] {
  return isLong ? rounds : rounds.slice(0, count);
}

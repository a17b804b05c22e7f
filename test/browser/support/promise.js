/**
 * Prints that a promise of the product holds.
 * @param {string} promise
 * @param {boolean} holds
 * @param {string[]} [violations] what breaks it, for the error's message
 * @throws {Error} if it does not hold.
 */
export function expectPromise(promise, holds, violations = []) {
  if (!holds) throw new Error([promise, ...violations].join('\n       '));
  process.stdout.write(`ok     ${promise}\n`);
}

/**
 * Says that a promise is kept, or fails.
 * @param {string} promise
 * @param {boolean} isKept
 * @param {string[]} [found] what breaks it
 */
export function said(promise, isKept, found = []) {
  if (!isKept) throw new Error([promise, ...found].join('\n       '));
  process.stdout.write(`ok     ${promise}\n`);
}

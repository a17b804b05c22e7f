const SHORTEST = 12;
const LONGEST = 1024;

/** What is wrong with a new password, as far as it can be told here. */
export function newPassword(password: string): string | null {
  const length = [...password].length;
  if (length < SHORTEST) return `A password has at least ${SHORTEST} characters; this has ${length}.`;
  if (length > LONGEST) return `A password has at most ${LONGEST} characters.`;
  return new Set(password).size === 1 ? 'This is one character repeated.' : null;
}

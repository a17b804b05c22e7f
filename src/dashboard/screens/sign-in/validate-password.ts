const MIN_LENGTH = 12;
const MAX_LENGTH = 1024;

/** What is wrong with a new password, as far as it can be told here. */
export function validatePassword(password: string): string | null {
  const length = [...password].length;
  if (length < MIN_LENGTH) return `A password has at least ${MIN_LENGTH} characters; this has ${length}.`;
  if (length > MAX_LENGTH) return `A password has at most ${MAX_LENGTH} characters.`;
  return new Set(password).size === 1 ? 'This is one character repeated.' : null;
}

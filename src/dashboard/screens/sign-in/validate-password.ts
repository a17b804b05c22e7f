const MIN_LENGTH = 12;
const MAX_LENGTH = 1024;

/** The rules for a new password that the browser can check. The gateway has more. */
export function validatePassword(password: string): string | null {
  const length = [...password].length;
  if (length < MIN_LENGTH) return `A password has at least ${MIN_LENGTH} characters; this has ${length}.`;
  if (length > MAX_LENGTH) return `A password has at most ${MAX_LENGTH} characters.`;
  return new Set(password).size === 1 ? 'This is one character repeated.' : null;
}

// What a text of a target may be, and secrets that are made here.

export const validateUuid = matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'This must be a UUID.');
export const validateArn = matches(
  /^arn:[^:]+:[^:]*:[^:]*:[^:]*:.+$/,
  'This must be an ARN: arn:partition:service:region:account:resource.',
);

/** Lines of names with values. */
export function validatePairs(value: string): string | null {
  const isPair = (line: string) => line.trim() === '' || /^\s*[^:\s][^:]*:/.test(line);
  return value.split('\n').every(isPair) ? null : 'Each line must be name: value.';
}

const SECRET_BYTES = 32;

/** A secret to sign with, as Standard Webhooks writes it. */
export function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** @param error what is said of a text that does not match. */
export function matches(pattern: RegExp, error: string) {
  return (value: string) => (pattern.test(value) ? null : error);
}

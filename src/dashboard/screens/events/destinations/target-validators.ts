// Validators for targets, and a generator of secrets.

export const validateUuid = matches(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'This must be a UUID.');
export const validateArn = matches(
  /^arn:[^:]+:[^:]*:[^:]*:[^:]*:.+$/,
  'This must be an ARN: arn:partition:service:region:account:resource.',
);

/** Validates lines of `name: value`. */
export function validatePairs(value: string): string | null {
  const isPair = (line: string) => line.trim() === '' || /^\s*[^:\s][^:]*:/.test(line);
  return value.split('\n').every(isPair) ? null : 'Each line must be name: value.';
}

const SECRET_BYTES = 32;

/** A new signing secret in the format of Standard Webhooks. */
export function newSigningSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

/** A validator for a pattern. @param error its message. */
export function matches(pattern: RegExp, error: string) {
  return (value: string) => (pattern.test(value) ? null : error);
}

// Errors of invalid targets, and the checks that several kinds of target share.

/** An error of one kind of target: its number after `ERR_GATEWAY_`, and its text with `{member}` and other parameters. */
export interface TargetErrorRow {
  readonly number: number;
  readonly text: string;
}

/** Errors that other inputs of the API share. The API's error table has their rows. */
export type SharedTargetError = 'targetMemberMissing' | 'targetMemberTooLong' | 'wrongValue';

/** An invalid target. The API responds with 400. The parameter `member` is a path in camelCase. */
export class TargetError extends Error {
  readonly row: TargetErrorRow | SharedTargetError;
  readonly parameters: Record<string, string | number>;
  /** What is wrong with further members of the same target. */
  readonly others: readonly TargetError[];

  constructor(
    row: TargetErrorRow | SharedTargetError,
    parameters: Record<string, string | number>,
    others: readonly TargetError[] = [],
  ) {
    super(typeof row === 'string' ? row : row.text);
    this.row = row;
    this.parameters = parameters;
    this.others = others;
  }
}

type Checks = Record<string, () => unknown>;

/** Checks each member of a target. @throws {TargetError} of the first one that is invalid, with those of the others. */
export function checkTargetMembers<C extends Checks>(checks: C): { [name in keyof C]: ReturnType<C[name]> } {
  const errors: TargetError[] = [];
  const checked: Record<string, unknown> = {};
  for (const [name, check] of Object.entries(checks))
    try {
      checked[name] = check();
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      errors.push(error, ...error.others);
    }
  const [first, ...others] = errors;
  if (first) throw new TargetError(first.row, first.parameters, others);
  return checked as { [name in keyof C]: ReturnType<C[name]> };
}

/** Checks each entry of a list in a target. @throws {TargetError} likewise. */
export function checkTargetEntries<T, R>(entries: readonly T[], check: (entry: T, index: number) => R): R[] {
  return Object.values(
    checkTargetMembers(Object.fromEntries(entries.map((entry, index) => [index, () => check(entry, index)]))),
  );
}

type Text = string | null | undefined;

const SECRET_MAX_BYTES = 1024;
/** The longest text that is matched against a pattern. */
const MATCH_MAX_BYTES = 255;

/** Checks a length in bytes of UTF-8. @throws {TargetError} when the text is longer than `max`. */
export function checkLength(text: string, member: string, max: number): void {
  const actual = Buffer.byteLength(text);
  if (actual > max) throw new TargetError('targetMemberTooLong', { member, max, actual });
}

/** Requires a text. @throws {TargetError} when it is missing or too long. */
export function requireText(text: Text, member: string, max: number): string {
  if (!text) throw new TargetError('targetMemberMissing', { member });
  checkLength(text, member, max);
  return text;
}

/** Requires a text that matches a pattern. @throws {TargetError} with this row and these parameters when it does not. */
export function requireMatch(
  text: Text,
  member: string,
  pattern: RegExp,
  row: TargetErrorRow,
  parameters: Record<string, string> = {},
): string {
  const required = requireText(text, member, MATCH_MAX_BYTES);
  if (!pattern.test(required)) throw new TargetError(row, { member, ...parameters });
  return required;
}

/**
 * Checks a secret that becomes part of a header field, and so must be printable ASCII.
 * @returns the secret, or null when none was given.
 * @throws {TargetError} when it is too long or has other characters.
 */
export function checkSecret(secret: Text, member: string): string | null {
  if (!secret) return null;
  checkLength(secret, member, SECRET_MAX_BYTES);
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new TargetError('wrongValue', { member, reason: 'it must be printable ASCII without spaces' });
}

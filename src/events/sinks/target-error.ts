// What is wrong with a target that was given, and the checks that several kinds of target share.

/** An error of one kind of target: its number behind `ERR_GATEWAY_`, and its text with `{member}` and other parameters. */
export interface TargetErrorRow {
  readonly number: number;
  readonly text: string;
}

/** Errors that other inputs of the API have as well: the API has their rows. */
export type SharedTargetError = 'targetMemberMissing' | 'targetMemberTooLong' | 'wrongValue';

/** The API answers with 400, naming the parameter `member`: a path in camelCase. */
export class TargetError extends Error {
  readonly row: TargetErrorRow | SharedTargetError;
  readonly parameters: Record<string, string | number>;

  constructor(row: TargetErrorRow | SharedTargetError, parameters: Record<string, string | number>) {
    super(typeof row === 'string' ? row : row.text);
    this.row = row;
    this.parameters = parameters;
  }
}

type Text = string | null | undefined;

const SECRET_MAX_BYTES = 1024;
/** Of a text that must match a pattern. */
const MATCH_MAX_BYTES = 255;

/** Lengths are bytes of UTF-8. @throws {TargetError} */
export function checkLength(text: string, member: string, max: number): void {
  const actual = Buffer.byteLength(text);
  if (actual > max) throw new TargetError('targetMemberTooLong', { member, max, actual });
}

/** @throws {TargetError} unless it is there, and not too long. */
export function requireText(text: Text, member: string, max: number): string {
  if (!text) throw new TargetError('targetMemberMissing', { member });
  checkLength(text, member, max);
  return text;
}

/** @throws {TargetError} the row with these parameters, unless the text matches. */
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
 * @returns a secret, or null when none was given. It becomes part of a header, which takes nothing but printable ASCII.
 * @throws {TargetError}
 */
export function checkSecret(secret: Text, member: string): string | null {
  if (!secret) return null;
  checkLength(secret, member, SECRET_MAX_BYTES);
  if (/^[\x21-\x7e]+$/.test(secret)) return secret;
  throw new TargetError('wrongValue', { member, reason: 'it must be printable ASCII without spaces' });
}

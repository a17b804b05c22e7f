import { randomBytes } from 'node:crypto';

const BYTES = 32;
const FORM = /^[\w-]{43}$/;

/** A new secret token of a browser session or a link: 256 random bits in base64url. Only its digest is stored. */
export function newToken(): string {
  return randomBytes(BYTES).toString('base64url');
}

/** Whether a text has the form of such a token. */
export function isToken(text: string): boolean {
  return FORM.test(text);
}

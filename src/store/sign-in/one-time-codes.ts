// Codes that work once: those of an app (TOTP, RFC 6238), and those that a user keeps for the day on which the app is lost.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_MS = 30_000;
/** How many steps the clock of a phone may be ahead or behind. */
const TOLERANCE_STEPS = 1;
const DIGITS = 6;
/** RFC 4226, section 4: as many bytes as the digest of SHA-1 has. */
const SECRET_BYTES = 20;
const RECOVERY_BYTES = 10;
/** RFC 4648, section 6. */
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export function newTotpSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** The code of a time step (RFC 4226, section 5.3). */
export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The time step of a moment. @param now the wall clock, in milliseconds. */
export function totpStep(now: number): number {
  return Math.floor(now / STEP_MS);
}

/** The time step, of those that count now, whose code this is; null when it is none. */
export function findTotpStep(secret: Buffer, code: string, now: number): number | null {
  const given = Buffer.from(code);
  const current = totpStep(now);
  for (let step = current - TOLERANCE_STEPS; step <= current + TOLERANCE_STEPS; step++) {
    const right = Buffer.from(totpCode(secret, step));
    if (given.length === right.length && timingSafeEqual(given, right)) return step;
  }
  return null;
}

/** Whether a text has the form of a code of an app, and not of one that is kept. */
export function isTotpCode(text: string): boolean {
  return text.length === DIGITS && /^\d+$/.test(text);
}

/** What an app reads, mostly from a picture of it (the key URI format of authenticator apps). */
export function totpUrl(secret: Buffer, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const facts = `issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_MS / 1000}`;
  return `otpauth://totp/${label}?secret=${base32(secret)}&${facts}`;
}

/** A new recovery code: 80 random bits, in groups of four characters. */
export function newRecoveryCode(): string {
  const text = base32(randomBytes(RECOVERY_BYTES)).toLowerCase();
  return (text.match(/.{4}/g) ?? []).join('-');
}

/**
 * What the database has of a recovery code. The key is the secret of the user's app, which is sealed in the database: so the codes
 * outlive a change of the server key, and are of one user alone.
 */
export function recoveryDigest(secret: Buffer, code: string): string {
  return createHmac('sha256', secret).update(plainCode(code)).digest('base64url');
}

/** A code as it was typed, without what only helps to read it. */
export function plainCode(code: string): string {
  return code.replace(/[\s-]/g, '').toLowerCase();
}

export function base32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? []).map((group) => BASE32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('');
}

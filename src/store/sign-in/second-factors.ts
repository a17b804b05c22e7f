// The second factors of users: an app that shows codes, and ten codes to sign in without it. One of a user at most.

import type { Db } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';
import {
  findTotpStep,
  isTotpCode,
  newRecoveryCode,
  newTotpSecret,
  plainCode,
  recoveryDigest,
} from './one-time-codes.ts';

const RECOVERY_CODES = 10;
/** Nobody types more; a longer text is no code. */
const CODE_MAX = 64;

/** What a code that was right is of. */
export type SecondFactorKind = 'app' | 'recovery code';

const isOn = (ownerId: string) => ({ ownerId, confirmedAt: { not: null } });

/** Whether a user has to give a code beside the password. */
export async function hasSecondFactor(db: Db, ownerId: string): Promise<boolean> {
  return (await db.secondFactor.count({ where: isOn(ownerId) })) > 0;
}

/** Makes the secret of an app, in place of one that was never confirmed. @returns null when the user has a second factor. */
export async function beginSecondFactor(db: Db, keys: Keys, ownerId: string): Promise<Buffer | null> {
  const secret = newTotpSecret();
  const sealed = keys.seal(secret.toString('base64url'), placeOf(ownerId));
  const count = await db.$executeRaw`
    INSERT INTO second_factor (owner_id, sealed) VALUES (${ownerId}, ${sealed})
    ON CONFLICT (owner_id) DO UPDATE SET sealed = excluded.sealed WHERE second_factor.confirmed_at IS NULL`;
  return count === 0 ? null : secret;
}

/**
 * Turns a second factor on, with a code that proves that an app has the secret. That code works no more.
 * @returns the recovery codes, of which the database has digests; null when the code is wrong.
 * @throws {NoSecondFactorBegun}
 */
export async function confirmSecondFactor(
  db: Db,
  keys: Keys,
  ownerId: string,
  { code, now }: { code: string; now: number },
): Promise<string[] | null> {
  const row = await db.secondFactor.findUnique({ where: { ownerId, confirmedAt: null } });
  if (!row) throw new NoSecondFactorBegun();
  const secret = openSecret(keys, row);
  const step = findTotpStep(secret, plainCode(code.slice(0, CODE_MAX)), now);
  if (step === null) return null;
  const where = { ownerId, sealed: row.sealed, confirmedAt: null };
  const data = { confirmedAt: new Date(now), lastStep: step };
  const { count } = await db.secondFactor.updateMany({ where, data });
  if (count === 0) throw new NoSecondFactorBegun(); // Another request was faster.
  return addRecoveryCodes(db, ownerId, secret);
}

/** Makes other recovery codes; those of before work no more. @returns null when the user has no second factor. */
export async function replaceRecoveryCodes(db: Db, keys: Keys, ownerId: string): Promise<string[] | null> {
  // The lock has two requests at once come one after the other: the codes of the later one are left.
  const [row] = await db.$queryRaw<{ sealed: string }[]>`
    SELECT sealed FROM second_factor WHERE owner_id = ${ownerId} AND confirmed_at IS NOT NULL FOR UPDATE`;
  if (!row) return null;
  await db.recoveryCode.deleteMany({ where: { ownerId } });
  return addRecoveryCodes(db, ownerId, openSecret(keys, { ownerId, ...row }));
}

async function addRecoveryCodes(db: Db, ownerId: string, secret: Buffer): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
  await db.recoveryCode.createMany({ data: codes.map((code) => ({ ownerId, digest: recoveryDigest(secret, code) })) });
  return codes;
}

/** No second factor of the user waits to be confirmed. */
export class NoSecondFactorBegun extends Error {}

/**
 * Uses a code up: of two requests with the same one, one finds it used.
 * @returns what it is of; null when it is wrong or used.
 */
export async function spendCode(
  db: Db,
  keys: Keys,
  ownerId: string,
  { code, now }: { code: string; now: number },
): Promise<SecondFactorKind | null> {
  const row = await db.secondFactor.findFirst({ where: isOn(ownerId) });
  if (!row) return null;
  const secret = openSecret(keys, row);
  const plain = plainCode(code.slice(0, CODE_MAX));
  if (!isTotpCode(plain)) {
    const { count } = await db.recoveryCode.deleteMany({ where: { ownerId, digest: recoveryDigest(secret, plain) } });
    return count === 0 ? null : 'recovery code';
  }
  const step = findTotpStep(secret, plain, now);
  if (step === null) return null;
  const where = { ownerId, sealed: row.sealed, lastStep: { lt: step } };
  const { count } = await db.secondFactor.updateMany({ where, data: { lastStep: step } });
  return count === 0 ? null : 'app';
}

/** Turns the second factor of a user off, with its recovery codes. @returns whether there was one. */
export async function removeSecondFactor(db: Db, ownerId: string): Promise<boolean> {
  return (await db.secondFactor.deleteMany({ where: isOn(ownerId) })).count > 0;
}

/** Encrypts the secrets of all users' apps with the current server key. */
export async function resealSecondFactors(db: Db, keys: Keys): Promise<void> {
  for (const { ownerId, sealed } of await db.secondFactor.findMany({ select: { ownerId: true, sealed: true } })) {
    const resealed = keys.seal(keys.open(sealed, placeOf(ownerId)), placeOf(ownerId));
    await db.secondFactor.update({ where: { ownerId }, data: { sealed: resealed }, select: { ownerId: true } });
  }
}

function openSecret(keys: Keys, { ownerId, sealed }: { ownerId: string; sealed: string }): Buffer {
  return Buffer.from(keys.open(sealed, placeOf(ownerId)), 'base64url');
}

function placeOf(ownerId: string): string {
  return `second_factor:${ownerId}:sealed`;
}

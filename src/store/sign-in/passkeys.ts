// The passkeys of users (WebAuthn), of which the database has the public keys, and the challenges that were answered with them.

import type { Db } from '../database/client.ts';
import { newId } from '../ids.ts';

/** The most passkeys of one user. */
export const PASSKEYS_MAX = 20;
const PREFIX = 'pky';

/** A key pair that a device has just made. */
export interface NewPasskey {
  /** What the device calls it, in base64url. */
  credentialId: string;
  /** As COSE_Key (RFC 9052, section 7). */
  publicKey: Uint8Array<ArrayBuffer>;
  counter: number;
  transports: string[];
  name: string;
}

/**
 * Locks a user against other writes of passkeys, and against a change of the password.
 * @param since in milliseconds: when the user proved to have the password.
 * @returns false when the user has been deactivated, or has got another password since.
 */
export async function lockPasskeyOwner(db: Db, ownerId: string, since: number): Promise<boolean> {
  const rows = await db.$queryRaw<object[]>`
    SELECT 1 FROM owner JOIN password ON password.owner_id = owner.id
    WHERE owner.id = ${ownerId} AND owner.active AND password.changed_at <= ${new Date(since)}
    FOR NO KEY UPDATE OF owner, password`;
  return rows.length > 0;
}

/** @returns the id; null when that key pair is somebody's already, perhaps the user's own. */
export async function addPasskey(db: Db, ownerId: string, passkey: NewPasskey, now: number): Promise<string | null> {
  const row = { id: newId(PREFIX), ownerId, ...passkey, createdAt: new Date(now) };
  const { count } = await db.passkey.createMany({ data: [row], skipDuplicates: true });
  return count === 0 ? null : row.id;
}

/** The passkey with this id at its device, and its user; null when there is none, or the user is not active. */
export function findPasskey(db: Db, credentialId: string) {
  return db.passkey.findFirst({
    where: { credentialId, owner: { kind: 'USER', active: true } },
    select: {
      ...{ id: true, name: true, publicKey: true, counter: true },
      owner: { select: { id: true, accountId: true, subject: true, role: true } },
    },
  });
}

/**
 * Notes that a passkey was used, by what its device has counted. Of two uses at once with the same count one fails.
 * @returns false when it has been removed, or when the device has counted no further: then there is a copy of it.
 */
export async function recordPasskeyUse(db: Db, id: string, counter: number, now: number): Promise<boolean> {
  const isFurther = counter === 0 ? { counter: 0 } : { counter: { lt: counter } };
  const { count } = await db.passkey.updateMany({
    where: { id, ...isFurther },
    data: { counter, lastUsedAt: new Date(now) },
  });
  return count > 0;
}

/**
 * Uses a challenge, or a visitor's log-in, up: of two requests with the same one, one finds it used.
 * @param expiresAt in milliseconds: from when on the challenge would not work anyway.
 * @returns false when it was used before.
 */
export async function spendChallenge(db: Db, challenge: string, expiresAt: number): Promise<boolean> {
  const data = [{ challenge, expiresAt: new Date(expiresAt) }];
  return (await db.spentChallenge.createMany({ data, skipDuplicates: true })).count > 0;
}

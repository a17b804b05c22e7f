// What vaults and secrets share: their names, who changed them, and how many there may be.

import type { Db } from '../../../store/database/client.ts';
import { id, NOTED_MEMBERS, text, time } from '../../collections/members.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';

export const NAME_MAX_BYTES = 255;
/** The longest value of a secret, in bytes: a private key of RSA with 4096 bits in PEM has 3.2 KiB. */
export const VALUE_MAX_BYTES = 8192;
export const VAULTS_MAX = 100;
/** Every process that carries traffic holds them in its memory. */
export const SECRETS_MAX = 1000;

/** The members by which their lists can be filtered and ordered. */
export const MEMBERS = {
  ...NOTED_MEMBERS,
  name: text('name', { isOrdered: true }),
  updated_at: time('updatedAt'),
  created_by: id('createdBy'),
  last_updated_by: id('lastUpdatedBy'),
};

/** A name as policies write it, so it stays as it is. @throws {ApiError} */
export function checkVaultName(member: string, name: string): string {
  const length = Buffer.byteLength(name);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  const isLine = name.trim() === name && !/[\x00-\x1f\x7f\u2028\u2029]/.test(name);
  if (length >= 1 && length <= NAME_MAX_BYTES && isLine) return name;
  throw new ApiError('vaultNameWrong', { member, max: NAME_MAX_BYTES });
}

/** @throws {ApiError} when a value is empty or too long. */
export function checkSecretValue(value: string): string {
  const actual = Buffer.byteLength(value);
  if (actual >= 1 && actual <= VALUE_MAX_BYTES) return value;
  throw new ApiError('secretValueLength', { member: 'value', max: VALUE_MAX_BYTES, actual });
}

/** The columns that say who creates a row, and when. */
export function creationBy({ caller, app }: Context) {
  const at = new Date(app.now());
  return { createdBy: caller.ownerId, lastUpdatedBy: caller.ownerId, createdAt: at, updatedAt: at };
}

/** The columns that say who changes a row, and when; none when nothing is changed. */
export function changeBy({ caller, app }: Context, given: readonly unknown[]) {
  const isChange = given.some((value) => value !== undefined && value !== null);
  return isChange ? { lastUpdatedBy: caller.ownerId, updatedAt: new Date(app.now()) } : {};
}

/** Lets one write at a time add to an account, so that it stays within its limit. @throws {ApiError} when it has as many. */
export async function checkVaultRoom(
  db: Db,
  accountId: string,
  { kind, max, count }: { kind: string; max: number; count: () => Promise<number> },
): Promise<void> {
  await db.$queryRaw`SELECT id FROM account WHERE id = ${accountId} FOR UPDATE`;
  if ((await count()) >= max) throw new ApiError('tooManyVaultObjects', { max, kind });
}

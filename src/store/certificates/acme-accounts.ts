// The gateway's accounts at certificate authorities. Their keys are encrypted, and bound to their row.

import type { StoredAccount } from '../../acme/jobs/job-store.ts';
import type { Db, PrismaClient } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';

const placeOf = (directoryUrl: string) => `acme_account:${directoryUrl}:private_key`;

const nextPlaceOf = (directoryUrl: string) => `acme_account:${directoryUrl}:next_private_key`;

/** The account at an authority. Of several nodes that make one at the same time, all get the same. */
export async function openAccount(
  prisma: PrismaClient,
  keys: Keys,
  directoryUrl: string,
  newKey: () => Promise<string>,
): Promise<StoredAccount> {
  const find = () => prisma.acmeAccount.findUnique({ where: { directoryUrl } });
  let row = await find();
  if (!row) {
    const privateKey = keys.seal(await newKey(), placeOf(directoryUrl));
    await prisma.acmeAccount.createMany({ data: [{ directoryUrl, privateKey }], skipDuplicates: true });
    row = await find();
  }
  if (!row) throw new Error(`the account at ${directoryUrl} was deleted at the same moment`);
  return {
    url: row.url,
    privateKey: keys.open(row.privateKey, placeOf(directoryUrl)),
    nextPrivateKey: row.nextPrivateKey && keys.open(row.nextPrivateKey, nextPlaceOf(directoryUrl)),
    blockedUntil: row.blockedUntil?.getTime() ?? null,
  };
}

export async function saveAccount(
  db: Db,
  directoryUrl: string,
  { url, blockedUntil }: Partial<Pick<StoredAccount, 'url' | 'blockedUntil'>>,
): Promise<void> {
  await db.acmeAccount.update({
    where: { directoryUrl },
    data: {
      ...(url !== undefined && { url }),
      ...(blockedUntil !== undefined && { blockedUntil: blockedUntil === null ? null : new Date(blockedUntil) }),
    },
  });
}

/** As `JobStore.replaceAccount`. */
export async function replaceAccount(
  prisma: PrismaClient,
  keys: Keys,
  directoryUrl: string,
  gone: string,
  newKey?: () => Promise<string>,
): Promise<void> {
  const privateKey = newKey && keys.seal(await newKey(), placeOf(directoryUrl));
  await prisma.$transaction(async (db) => {
    await db.$queryRaw`SELECT directory_url FROM acme_account WHERE directory_url = ${directoryUrl} FOR UPDATE`;
    const row = await db.acmeAccount.findUnique({ where: { directoryUrl } });
    if (!row || keys.open(row.privateKey, placeOf(directoryUrl)) !== gone) return;
    const data = { url: '', nextPrivateKey: null, ...(privateKey && { privateKey }) };
    await db.acmeAccount.update({ where: { directoryUrl }, data });
  });
}

/**
 * Has an account made anew, with another key. What was asked of the one before about time does not hold for it.
 * @returns false when there is none.
 */
export async function renewAccount(
  db: Db,
  keys: Keys,
  directoryUrl: string,
  newKey: () => Promise<string>,
): Promise<boolean> {
  const privateKey = keys.seal(await newKey(), placeOf(directoryUrl));
  const data = { url: '', privateKey, nextPrivateKey: null, blockedUntil: null };
  const { count } = await db.acmeAccount.updateMany({ where: { directoryUrl }, data });
  return count > 0;
}

/**
 * Stores the key that an account is to be given; a change that is under way goes on with its own.
 * @returns false when there is no such account.
 */
export async function beginKeyChange(
  db: Db,
  keys: Keys,
  directoryUrl: string,
  newKey: () => Promise<string>,
): Promise<boolean> {
  const nextPrivateKey = keys.seal(await newKey(), nextPlaceOf(directoryUrl));
  await db.acmeAccount.updateMany({ where: { directoryUrl, nextPrivateKey: null }, data: { nextPrivateKey } });
  return (await db.acmeAccount.count({ where: { directoryUrl } })) > 0;
}

/** As `JobStore.endKeyChange`. */
export async function endKeyChange(
  prisma: PrismaClient,
  keys: Keys,
  directoryUrl: string,
  next: string,
  isDone: boolean,
): Promise<boolean> {
  const privateKey = keys.seal(next, placeOf(directoryUrl));
  return prisma.$transaction(async (db) => {
    await db.$queryRaw`SELECT directory_url FROM acme_account WHERE directory_url = ${directoryUrl} FOR UPDATE`;
    const row = await db.acmeAccount.findUnique({ where: { directoryUrl } });
    if (!row?.nextPrivateKey || keys.open(row.nextPrivateKey, nextPlaceOf(directoryUrl)) !== next) return false;
    const data = { nextPrivateKey: null, ...(isDone && { privateKey }) };
    await db.acmeAccount.update({ where: { directoryUrl }, data });
    return true;
  });
}

/** Encrypts the keys with the current server key. */
export async function resealAccounts(db: Db, keys: Keys): Promise<void> {
  const reseal = (sealed: string, place: string) => keys.seal(keys.open(sealed, place), place);
  for (const { directoryUrl, privateKey, nextPrivateKey: next } of await db.acmeAccount.findMany())
    await db.acmeAccount.update({
      where: { directoryUrl },
      data: {
        privateKey: reseal(privateKey, placeOf(directoryUrl)),
        nextPrivateKey: next && reseal(next, nextPlaceOf(directoryUrl)),
      },
    });
}

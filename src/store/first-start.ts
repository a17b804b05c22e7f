// The first start creates one account, one admin, one API key and one credential.

import type { Db } from './database/client.ts';
import { newId, newSecret } from './ids.ts';
import type { Keys } from './keys/keys.ts';

/** The row that only one of several processes can insert that start on an empty database at the same time. */
const FIRST_START = 'first_start';

export interface FirstSecrets {
  /** Undefined when the operator chose the key. */
  apiKey: string | undefined;
  authtoken: string;
}

/**
 * Creates what the first user needs, once in the life of a database.
 * @param chosenKey the API key that the operator chose (`INITIAL_API_KEY`).
 * @returns null when it was done before.
 */
export async function firstStart(db: Db, keys: Keys, chosenKey: string | undefined): Promise<FirstSecrets | null> {
  const { count } = await db.setting.createMany({
    data: [{ name: FIRST_START, value: new Date().toISOString() }],
    skipDuplicates: true,
  });
  if (count === 0) return null;
  const account = await db.account.create({ data: { id: newId('ac') } });
  const admin = await db.owner.create({
    data: { id: newId('usr'), accountId: account.id, kind: 'USER', subject: 'admin@localhost', role: 'ADMIN' },
  });
  const apiKey = await newAdminKey(db, keys, admin, 'first API key', chosenKey);
  const id = newId('cr');
  const authtoken = newSecret(id);
  await db.credential.create({
    data: { id, accountId: account.id, ownerId: admin.id, description: 'first agent', digest: keys.digest(authtoken) },
  });
  return { apiKey: chosenKey ? undefined : apiKey, authtoken };
}

/** Creates an API key of this owner. @returns the key, of which only a digest is stored. */
export async function newAdminKey(
  db: Db,
  keys: Keys,
  owner: { id: string; accountId: string },
  description: string,
  chosenKey?: string,
): Promise<string> {
  const id = newId('ak');
  const key = chosenKey ?? newSecret(id);
  await db.apiKey.create({
    data: { id, accountId: owner.accountId, ownerId: owner.id, description, digest: keys.digest(key) },
  });
  return key;
}

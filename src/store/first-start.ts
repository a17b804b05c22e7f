// The first start: one account, one admin, one API key, one credential.

import type { Db } from './database/client.ts';
import { newId, newSecret } from './ids.ts';
import type { Keys } from './keys/keys.ts';

/** Two processes that start at once on an empty database meet at this row. */
const FIRST_START = 'first_start';

export interface FirstSecrets {
  /** Undefined when the operator chose the key, and so knows it. */
  apiKey: string | undefined;
  authtoken: string;
}

/**
 * Makes what the first user needs, once in the life of a database; null when that was done before.
 * @param chosenKey an API key of the operator's choice (`INITIAL_API_KEY`).
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

/** A new API key of this owner; the key is in the answer and nowhere else. */
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

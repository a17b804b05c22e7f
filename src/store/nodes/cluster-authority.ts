// The certificate authority of the cluster: made once, and kept in the database for all nodes. Its key is encrypted.

import { exportKey, issueAuthority, newKeyPair } from '../../runtime/issue-certificates.ts';
import type { Db } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';

const SETTING = 'cluster_authority';
/** What the key is bound to. */
const PLACE = 'setting cluster_authority key';
/** The nodes replace their certificates by themselves; a new authority takes that all nodes restart. */
const AUTHORITY_DAYS = 36_500;

/** A certificate and its private key, in PEM. */
export interface StoredAuthority {
  cert: string;
  key: string;
}

/** Reads the authority, or makes it. Of several nodes that do so at once, one makes it for all. */
export async function loadClusterAuthority(db: Db, keys: Keys): Promise<StoredAuthority> {
  const known = await db.setting.findUnique({ where: { name: SETTING } });
  if (known) return open(keys, known.value);
  const pair = await newKeyPair();
  const authority = {
    cert: await issueAuthority(pair, 'Tunnel Gateway cluster', AUTHORITY_DAYS),
    key: await exportKey(pair),
  };
  await db.setting.createMany({ data: [{ name: SETTING, value: seal(keys, authority) }], skipDuplicates: true });
  const stored = await db.setting.findUniqueOrThrow({ where: { name: SETTING } });
  return open(keys, stored.value);
}

/** Encrypts the key of the authority anew, with the current server key. */
export async function resealClusterAuthority(db: Db, keys: Keys): Promise<void> {
  const stored = await db.setting.findUnique({ where: { name: SETTING } });
  if (!stored) return;
  const value = seal(keys, open(keys, stored.value));
  await db.setting.update({ where: { name: SETTING }, data: { value } });
}

function seal(keys: Keys, { cert, key }: StoredAuthority): string {
  return JSON.stringify({ cert, key: keys.seal(key, PLACE) });
}

function open(keys: Keys, value: string): StoredAuthority {
  const { cert, key } = JSON.parse(value) as StoredAuthority;
  return { cert, key: keys.open(key, PLACE) };
}

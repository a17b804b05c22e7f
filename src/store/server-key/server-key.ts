// The server key: from the configuration, or created at the first start and stored in the data directory.

import { randomBytes } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileAtomically } from '../../create-file-atomically.ts';
import type { ModuleDescriptor } from '../../edge/modules/descriptor.ts';
import type { Db } from '../database/client.ts';
import { deriveKeys, type Keys } from '../keys/keys.ts';
import type { StoreSettings } from '../settings.ts';
import { resealSecrets } from './reseal-secrets.ts';

const KEY_BYTES = 32;
const CHECK = 'server_key_check';

/** The server key cannot be used; the text says what to do. */
export class ServerKeyError extends Error {}

/** The file of the key when the configuration does not give one. */
export function keyFile(dataDir: string): string {
  return join(dataDir, 'server.key');
}

/**
 * Reads the key, or creates its file (mode 0600, synced to the disk before it is used).
 * @throws {ServerKeyError} when the file does not hold a key.
 */
export async function loadKeys({ serverKey, previousServerKey, dataDir }: StoreSettings): Promise<Keys> {
  return deriveKeys(serverKey ?? (await readOrCreate(dataDir)), previousServerKey);
}

async function readOrCreate(dataDir: string): Promise<Buffer> {
  const file = keyFile(dataDir);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await createFileAtomically(file, 0o600, `${randomBytes(KEY_BYTES).toString('base64')}\n`);
    return readOrCreate(dataDir); // Another process may have created the file first; its key is used.
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== KEY_BYTES)
    throw new ServerKeyError(`${file} must hold 32 bytes in base64; restore it from a backup`);
  return key;
}

/**
 * Compares the key with the check value in the database, which the first start writes and a rotation renews.
 * @throws {ServerKeyError} when the database was written under another key: its secrets could neither be
 * recognised nor decrypted.
 * @param descriptors of all modules, whose secrets a rotation encrypts with the new key.
 */
export async function checkServerKey(db: Db, keys: Keys, descriptors: readonly ModuleDescriptor[]): Promise<void> {
  await db.setting.createMany({ data: [{ name: CHECK, value: keys.check }], skipDuplicates: true });
  const stored = await db.setting.findUniqueOrThrow({ where: { name: CHECK } });
  if (stored.value === keys.check) return;
  if (stored.value !== keys.previousCheck) {
    throw new ServerKeyError(
      'The database belongs to another server key. Set SERVER_KEY to the key it was made with (or put its server.key ' +
        'into DATA_DIR); to change the key, set SERVER_KEY to the new one and SERVER_KEY_PREVIOUS to the old one.',
    );
  }
  await resealSecrets(db, keys, descriptors);
  await db.setting.update({ where: { name: CHECK }, data: { value: keys.check } });
}

// The signing secrets of alert channels in the database. They are encrypted, and bound to their row.

import type { Db } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';

export interface ChannelRow {
  id: string;
  accountId: string;
}

/** A signing secret, encrypted as it is stored. */
export function sealSigningSecret(keys: Keys, row: ChannelRow, secret: string): string {
  return keys.seal(secret, placeOf(row));
}

/** The signing secret of a row; null when it was sealed with a server key that this process does not have. */
export function openSigningSecret(keys: Keys, row: ChannelRow & { signingSecret: string }): string | null {
  try {
    return keys.open(row.signingSecret, placeOf(row));
  } catch {
    return null;
  }
}

/** Encrypts the signing secrets of all channels with the current server key. */
export async function resealChannels(db: Db, keys: Keys): Promise<void> {
  const select = { id: true, accountId: true, signingSecret: true } as const;
  for (const row of await db.alertChannel.findMany({ where: { signingSecret: { not: '' } }, select })) {
    const signingSecret = sealSigningSecret(keys, row, keys.open(row.signingSecret, placeOf(row)));
    await db.alertChannel.update({ where: { id: row.id }, data: { signingSecret }, select: { id: true } });
  }
}

function placeOf({ id, accountId }: ChannelRow): string {
  return `alert_channel:${accountId}:${id}:signing_secret`;
}

// Recipients of alerts by e-mail, who agree before they are sent any: accounts could send mail to strangers otherwise.

import type { Changes } from '../changes/changes.ts';
import type { PrismaClient } from '../database/client.ts';
import type { Keys } from '../keys/keys.ts';

const PLACE = 'alert recipient: invitation';
/** How long a recipient may take to agree; milliseconds. */
export const INVITATION_MS = 7 * 24 * 60 * 60_000;

/** What a recipient agrees to. */
export interface Invitation {
  channelId: string;
  accountId: string;
  address: string;
  /** When it was made: the wall clock, in milliseconds. */
  at: number;
}

/** The token of an invitation, which its mail alone has. */
export function sealInvitation(keys: Keys, invitation: Invitation): string {
  return keys.seal(JSON.stringify(invitation), PLACE);
}

/** Reads a token; undefined when it is none of ours, or too old. @param now the wall clock, in milliseconds. */
export function openInvitation(keys: Keys, token: string, now: number): Invitation | undefined {
  try {
    const invitation = JSON.parse(keys.open(token, PLACE)) as Invitation;
    return now - invitation.at <= INVITATION_MS ? invitation : undefined;
  } catch {
    return undefined; // Anybody can send anything.
  }
}

/** Notes that a recipient has agreed. @returns whether the channel still has the address. */
export async function confirmRecipient(
  { prisma, changes }: { prisma: PrismaClient; changes: Changes },
  { channelId: id, accountId, address }: Invitation,
): Promise<boolean> {
  return changes.transaction(prisma, async (db, announce) => {
    const count = await db.$executeRaw`
      UPDATE alert_channel SET confirmed_recipients = array_append(array_remove(confirmed_recipients, ${address}), ${address})
      WHERE id = ${id} AND account_id = ${accountId} AND ${address} = ANY(recipients)`;
    if (count > 0) announce({ kind: 'alertChannel', action: 'UPDATED', id, accountId });
    return count > 0;
  });
}

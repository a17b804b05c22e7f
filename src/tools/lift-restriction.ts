// Lets operators in again who have locked themselves out by an IP restriction.

import type { Config } from '../config/config.ts';
import type { Db } from '../store/database/client.ts';
import { recordAct, type ToolActor } from './record-act.ts';

/** The argument of the commands. */
export const RESTRICTION_OFF = '--ip-restriction-off';

/** Leaves an enforced restriction unenforced. A running gateway learns of it when it would refuse the next request. */
export async function liftRestriction(db: Db, config: Config, by: ToolActor, type: 'API' | 'DASHBOARD'): Promise<void> {
  const where = { accountId: by.accountId, type, enforced: true };
  const restriction = await db.accountIpRestriction.findFirst({ where });
  if (!restriction) return;
  const { id: objectId, description: objectName } = restriction;
  await db.accountIpRestriction.update({ where: { id: objectId }, data: { enforced: false } });
  const act = { action: 'UPDATED', kind: 'accountIpRestriction', objectId, objectName } as const;
  await recordAct(db, config, by, { ...act, before: { enforced: true }, after: { enforced: false } });
}

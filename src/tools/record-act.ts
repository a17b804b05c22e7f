// Keeps in the audit trail what a command on the machine of the gateway did.

import type { Config } from '../config/config.ts';
import { type AuditAct, insertAuditEntries } from '../store/audit/audit-entries.ts';
import type { Db, PrismaClient } from '../store/database/client.ts';

/** Who did it: the operator, by a command that is named as the client is. */
export interface ToolActor {
  accountId: string;
  /** `npm run api-key` */
  tool: string;
}

/** To be called in the transaction of what was done. Where no trail is kept (`AUDIT_DAYS=0`), nothing is written. */
export async function recordAct(
  db: Db,
  { auditDays }: Pick<Config, 'auditDays'>,
  { accountId, tool }: ToolActor,
  act: AuditAct,
): Promise<void> {
  if (auditDays === 0) return;
  const unknown = { actorId: '', actorSubject: '', credentialId: '', ip: '', operationId: '' };
  await insertAuditEntries(db, [{ accountId, source: 'GATEWAY', ...unknown, userAgent: tool, ...act }]);
}

/** Keeps what was done with the whole database: a line in the trail of each account. */
export async function recordForAll(
  prisma: PrismaClient,
  config: Pick<Config, 'auditDays'>,
  tool: string,
  action: AuditAct['action'],
): Promise<void> {
  const accounts = await prisma.account.findMany({ select: { id: true } });
  await prisma.$transaction(async (tx) => {
    for (const { id } of accounts)
      await recordAct(tx, config, { accountId: id, tool }, { action, kind: 'account', objectId: id, objectName: '' });
  });
}

// Records in the audit trail that agents were refused what they asked for.

import type { BindRefusal } from '../../tunnel/control/registrar.ts';
import { AuditBudget } from '../audit/audit-budget.ts';
import { insertAuditEntries } from '../audit/audit-entries.ts';
import type { RegistrarDeps } from './registrar-deps.ts';

/** Entries a minute of each credential: an agent may ask again and again. */
const PER_MINUTE = 5;

/** Returns the function that records a refusal, which does nothing when its credential had enough in this minute. */
export function createBindRefusals({ prisma, changes, settings: { auditDays } }: RegistrarDeps) {
  const budget = new AuditBudget(PER_MINUTE, Date.now);
  return async ({ sessionId, accountId, credentialId, asked, reason }: BindRefusal): Promise<void> => {
    const skipped = auditDays > 0 ? budget.take(credentialId) : null;
    if (skipped === null) return;
    const select = { ip: true, userAgent: true, credential: { select: { description: true } } };
    const session = await prisma.tunnelSession.findUnique({ where: { id: sessionId }, select });
    const { ip = '', userAgent = '', credential } = session ?? {};
    const object = { kind: 'credential', objectId: credentialId, objectName: credential?.description ?? '' };
    const after = { tunnel_session_id: sessionId, asked, reason, ...(skipped > 0 && { not_recorded_before: skipped }) };
    const nobody = { actorId: '', actorSubject: '', operationId: '' };
    const actor = { ...nobody, accountId, source: 'AGENT', credentialId, ip, userAgent } as const;
    const written = await insertAuditEntries(prisma, [{ ...actor, ...object, action: 'BIND_REFUSED', after }]);
    await changes.publishHints(written);
  };
}

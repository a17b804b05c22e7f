// Who is kept in the audit trail as who did something.

import type { AuditActor } from '../../store/audit/audit-entries.ts';
import type { SigningIn } from '../caller.ts';
import type { Context } from '../context.ts';

/** @param signingIn who does it, where nobody is known as the caller yet. */
export function actorOf(context: Context, signingIn?: SigningIn): AuditActor {
  const { client, operationId } = context;
  const where = { ip: client.ip, userAgent: client.userAgent, operationId };
  if (signingIn) {
    const { id, accountId, subject, sessionId = '' } = signingIn;
    return { ...where, accountId, source: 'DASHBOARD', actorId: id, actorSubject: subject, credentialId: sessionId };
  }
  const { accountId, ownerId: actorId, subject: actorSubject, keyId, sessionId = '' } = context.caller;
  const { provisioningKeyId } = context.caller;
  const source = provisioningKeyId ? 'AGENT' : keyId === undefined ? 'DASHBOARD' : 'API';
  return { ...where, accountId, source, actorId, actorSubject, credentialId: provisioningKeyId ?? keyId ?? sessionId };
}

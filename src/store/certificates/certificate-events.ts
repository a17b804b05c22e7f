// Events of certificates that are obtained, renewed, or not. The gateway's own names are nobody's: no event tells of them.

import type { CertificateJob, JobPatch } from '../../acme/jobs/job.ts';
import type { EventName } from '../../events/types.ts';
import type { AuditContext } from '../events/audit.ts';
import { findSubscriptions, writeAudit } from '../events/outbox.ts';
import type { CertificateFacts } from './install-certificate.ts';

export async function writeCertificateEvent(
  context: AuditContext,
  type: Extract<EventName, `domain_certificate_${string}.v0`>,
  { accountId, domain, names }: CertificateJob,
  { errorCode = null, message = '', nextAt, renewsAt = null }: JobPatch,
  facts?: CertificateFacts,
): Promise<void> {
  if (!domain) return;
  const subscriptions = await findSubscriptions(context.db, [accountId], [type]);
  if (subscriptions.isEmpty) return;
  const time = (at: number | null) => (at === null ? null : rfc3339(new Date(at)));
  const object = {
    domain: { id: domain.id, uri: `${context.baseUrl}/reserved_domains/${domain.id}`, domain: domain.domain },
    names: [...names],
    ...(facts
      ? {
          issuer_common_name: facts.issuerCommonName,
          serial_number: facts.serialNumber,
          not_before: rfc3339(facts.notBefore),
          not_after: rfc3339(facts.notAfter),
          renews_at: time(renewsAt),
        }
      : {
          error_code: errorCode === null ? null : `ERR_GATEWAY_${errorCode}`,
          msg: message,
          retries_at: time(nextAt),
        }),
  };
  await writeAudit(context, [{ type, accountId, principal: null, object }], subscriptions);
}

/** Without fractions of a second. */
const rfc3339 = (time: Date) => time.toISOString().replace(/\.\d+Z$/, 'Z');

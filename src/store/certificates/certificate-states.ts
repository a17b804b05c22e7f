// How many certificates are in which state, for the metrics: every state, also where there is none.

import type { PrismaClient } from '../database/client.ts';

export interface CertificatesInState {
  state: string;
  count: number;
  /** Until the first of them expires; null where none is in force. */
  daysLeft: number | null;
}

export async function certificateStates(prisma: PrismaClient): Promise<CertificatesInState[]> {
  return prisma.$queryRaw<CertificatesInState[]>`
    SELECT known.state::text, count(job.id)::float8 AS count,
      min(extract(epoch FROM certificate.not_after - now()) / 86400)::float8 AS "daysLeft"
    FROM unnest(enum_range(NULL::certificate_state)) AS known (state)
      LEFT JOIN managed_certificate AS job ON job.state = known.state
      LEFT JOIN tls_certificate AS certificate ON certificate.managed_certificate_id = job.id
    GROUP BY known.state`;
}

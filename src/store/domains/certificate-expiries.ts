// When uploaded certificates that domains use expire: of all accounts, for the operator's metrics.

import { type Expiries, REPORTED_MAX, SOON_MS } from '../../edge/tls/certificate-expiry.ts';
import type { PrismaClient } from '../database/client.ts';

interface ExpiryRow {
  expiring: number;
  expired: number;
  first: { id: string; notAfter: number }[];
}

/** One statement with a short result however many certificates there are. For ten thousand it takes some tens of milliseconds. */
export async function uploadedExpiries(prisma: PrismaClient): Promise<Expiries> {
  const [row] = await prisma.$queryRaw<[ExpiryRow]>`
    WITH shown AS (
      SELECT id, not_after, not_after <= now() AS has_ended FROM tls_certificate AS certificate
      WHERE EXISTS (SELECT FROM reserved_domain WHERE certificate_id = certificate.id)
    ), first AS (
      SELECT id, extract(epoch FROM not_after)::float8 * 1000 AS not_after FROM shown
      ORDER BY has_ended, shown.not_after LIMIT ${REPORTED_MAX}
    )
    SELECT count(*) FILTER (WHERE has_ended)::float8 AS expired,
      count(*) FILTER (WHERE NOT has_ended AND not_after <= now() + ${SOON_MS} * interval '1 millisecond')::float8
        AS expiring,
      (SELECT coalesce(json_agg(json_build_object('id', id, 'notAfter', not_after)), '[]') FROM first) AS first
    FROM shown`;
  return { ...row, first: row.first.map(({ id, notAfter }) => ({ source: 'upload', id, notAfter })) };
}

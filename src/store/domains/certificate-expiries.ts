// When certificates in the database expire: of all accounts, for the operator's metrics. One that is renewed by itself is told of only
// when its renewal is overdue, as it may live for six days alone.

import { type Expiries, type Expiry, REPORTED_MAX, SOON_MS } from '../../edge/tls/certificate-expiry.ts';
import type { PrismaClient } from '../database/client.ts';

/** What a certificate that is renewed by itself has left of its life when that is overdue. */
const OVERDUE = 0.08;

interface ExpiryRow {
  expiring: number;
  expired: number;
  first: Expiry[];
}

/** One statement with a short result however many certificates there are. For ten thousand it takes some tens of milliseconds. */
export async function storedExpiries(prisma: PrismaClient): Promise<Expiries> {
  const [row] = await prisma.$queryRaw<[ExpiryRow]>`
    WITH shown AS (
      SELECT id, not_after, not_after <= now() AS has_ended,
        CASE WHEN managed_certificate_id IS NULL THEN 'upload' ELSE 'managed' END AS source,
        not_after - CASE WHEN managed_certificate_id IS NULL THEN ${SOON_MS} * interval '1 millisecond'
          ELSE (not_after - not_before) * ${OVERDUE} END <= now() AS is_due
      FROM tls_certificate AS certificate
      WHERE managed_certificate_id IS NOT NULL
        OR EXISTS (SELECT FROM reserved_domain WHERE certificate_id = certificate.id)
    ), first AS (
      SELECT source, id, extract(epoch FROM not_after)::float8 * 1000 AS not_after FROM shown
      WHERE source = 'upload' OR is_due ORDER BY has_ended, shown.not_after LIMIT ${REPORTED_MAX}
    )
    SELECT count(*) FILTER (WHERE has_ended)::float8 AS expired,
      count(*) FILTER (WHERE NOT has_ended AND is_due)::float8 AS expiring,
      (SELECT coalesce(json_agg(json_build_object('source', source, 'id', id, 'notAfter', not_after)), '[]') FROM first)
        AS first
    FROM shown`;
  return row;
}

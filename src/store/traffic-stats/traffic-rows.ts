// Rows of figures: how they are written, many at once, and how they are read.

import type { TrafficDelta } from '../../edge/metrics/traffic-stats-store.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** The lengths of buckets that are stored, in seconds, with how long they are kept, in milliseconds. */
export const RESOLUTIONS = [
  { seconds: 10, keptMs: 3_600_000 },
  { seconds: 60, keptMs: 24 * 3_600_000 },
  { seconds: 3600, keptMs: 30 * 24 * 3_600_000 },
] as const;

export type BucketSeconds = (typeof RESOLUTIONS)[number]['seconds'];

/** A row as it is read. Counts are numbers: they are exact up to 2^53. */
export interface TrafficRow extends Omit<TrafficDelta, 'responses'> {
  /** The start of the bucket, in milliseconds since 1970. */
  at: number;
  unanswered: number;
  informational: number;
  success: number;
  redirection: number;
  clientError: number;
  serverError: number;
}

/** The columns of a `TrafficRow`, of `traffic_stat t`. */
export const ROW_COLUMNS = Prisma.sql`
  t.subject_id AS "subjectId", t.account_id AS "accountId", extract(epoch FROM t.at)::float8 * 1000 AS "at",
  t.unanswered::float8 AS "unanswered", t.informational::float8 AS "informational", t.success::float8 AS "success",
  t.redirection::float8 AS "redirection", t.client_error::float8 AS "clientError", t.server_error::float8 AS "serverError",
  t.failures::float8 AS "failures", t.connections::float8 AS "connections", t.bytes_in::float8 AS "bytesIn",
  t.bytes_out::float8 AS "bytesOut", t.open_connections::float8 AS "openConnections", t.duration_ms AS "durationMs",
  t.durations, t.first_bytes AS "firstBytes"`;

/** All requests of rows of `traffic_stat t`, summed. */
export const REQUESTS = Prisma.sql`
  sum(t.unanswered + t.informational + t.success + t.redirection + t.client_error + t.server_error)::float8`;

/** Inserts rows in one statement. Those that are there already stay as they are. */
export function insertion(
  bucket: { resolution: BucketSeconds; at: number; writer: string },
  deltas: readonly TrafficDelta[],
): Prisma.Sql {
  const rows = JSON.stringify(deltas.map(jsonRow));
  return Prisma.sql`
    INSERT INTO traffic_stat (resolution, at, writer, subject_id, account_id, unanswered, informational, success,
      redirection, client_error, server_error, failures, connections, bytes_in, bytes_out, open_connections,
      duration_ms, durations, first_bytes)
    SELECT ${bucket.resolution}::int, ${new Date(bucket.at)}::timestamptz, ${bucket.writer}, r.s, r.a, r.r0, r.r1, r.r2,
      r.r3, r.r4, r.r5, r.f, r.c, r.i, r.o, r.n, r.m, decode(r.d, 'base64'), decode(r.b, 'base64')
    FROM json_to_recordset(${rows}::json) AS r(s text, a text, r0 bigint, r1 bigint, r2 bigint, r3 bigint, r4 bigint,
      r5 bigint, f bigint, c bigint, i bigint, o bigint, n bigint, m double precision, d text, b text)
    ON CONFLICT DO NOTHING`;
}

function jsonRow(delta: TrafficDelta): object {
  const [r0, r1, r2, r3, r4, r5] = delta.responses;
  return {
    ...{ s: delta.subjectId, a: delta.accountId, r0, r1, r2, r3, r4, r5, f: delta.failures, c: delta.connections },
    ...{ i: delta.bytesIn, o: delta.bytesOut, n: delta.openConnections, m: delta.durationMs },
    d: base64(delta.durations),
    b: base64(delta.firstBytes),
  };
}

const base64 = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString('base64');

// What the whole database holds, in short: to see that it was not changed.

import type { TestGateway } from '../support/gateway.ts';

/** Tables that change by themselves: a node renews its lease. */
const RESTLESS = ['node'];

/** A column that every request changes. */
const RESTLESS_COLUMN = 'last_used_at';

/** The number of rows of every table, and a hash of them. */
export async function dump({ app }: TestGateway): Promise<Record<string, string>> {
  const tables = await app.prisma.$queryRaw<{ name: string }[]>`
    SELECT table_name::text AS name FROM information_schema.tables
    WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`;
  const found: Record<string, string> = {};
  for (const { name } of tables) {
    if (RESTLESS.includes(name)) continue;
    const [row] = await app.prisma.$queryRawUnsafe<{ found: string }[]>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(row::text, '|' ORDER BY row::text)), '') AS found
       FROM (SELECT to_jsonb(t) - '${RESTLESS_COLUMN}' AS row FROM "${name}" t) rows`,
    );
    found[name] = row?.found ?? '';
  }
  return found;
}

// `npm run soak -- lists`: what a page of each list takes at 100,000 rows (LIST_ROWS), in each order and by each member.

import { expect, onTestFinished, test } from 'vitest';
import type { Collection } from '../../src/api/collections/collection.ts';
import { newId } from '../../src/store/ids.ts';
import { allLists, fillLists, type ListQuery, queriesOf, tableNameOf } from '../lists/many-rows.ts';
import { type Account, onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const ROWS = Number(process.env.LIST_ROWS ?? 100_000);
const ROUNDS = 5;
const PAGE_MS_MAX = 50;

test(`a page of a list of ${ROWS} rows takes less than ${PAGE_MS_MAX} ms`, { timeout: 3_600_000 }, async () => {
  const gateway = await startTestGateway({ RATE_LIMIT: '1000000' });
  onTestFinished(() => gateway.close());
  const account = await gateway.newAccount();
  // A gateway ends what it is said to serve and does not; of another node it leaves all until the lease is over.
  const leaseUntil = new Date(Date.now() + 3_600_000);
  const { id: nodeId } = await gateway.app.prisma.node.create({ data: { id: newId('node'), leaseUntil } });
  await fillLists(gateway, account, ROWS, nodeId);

  const slow: string[] = [];
  console.log(
    `\n${onServer ? 'PostgreSQL' : 'embedded'}, ${ROWS} rows in each list, milliseconds of a call (the median of ${ROUNDS})`,
  );
  console.log(`${'list'.padEnd(24)}   median    total slowest`);
  for (const list of allLists()) {
    const middle = await middleOf(gateway, account, list);
    const times: { query: ListQuery; ms: number }[] = [];
    for (const query of queriesOf(list, middle))
      times.push({ query, ms: await medianTime(account, list.plural, query) });
    const total = await medianTime(account, list.plural, {}, 'totalCount');
    times.sort((a, b) => b.ms - a.ms);
    const [slowest] = times;
    const median = times[Math.floor(times.length / 2)];
    const worst = ({ query, ms }: (typeof times)[number]) => `${ms.toFixed(1)} (${Object.values(query).join(', ')})`;
    console.log(
      `${list.plural.padEnd(24)} ${median?.ms.toFixed(1).padStart(8)} ${total.toFixed(1).padStart(8)} ${slowest && worst(slowest)}`,
    );
    slow.push(...times.filter(({ ms }) => ms >= PAGE_MS_MAX).map((time) => `${list.plural}: ${worst(time)}`));
  }
  expect(slow).toEqual([]);
});

/** The id of a row in the middle of a list by its ids. Of resolved alerts few are kept. */
async function middleOf({ app }: TestGateway, { accountId }: Account, list: Collection): Promise<string> {
  const rows = `FROM "${tableNameOf(list)}" WHERE account_id = $1 AND id LIKE $2`;
  const [row] = await app.prisma.$queryRawUnsafe<{ id: string }[]>(
    `SELECT id ${rows} ORDER BY id OFFSET (SELECT count(*) / 2 ${rows}) LIMIT 1`,
    ...[accountId, `${list.prefix}\\_%`],
  );
  return row?.id ?? '';
}

async function medianTime(
  { graphql }: Account,
  list: string,
  query: ListQuery,
  selection = 'nodes { id }',
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    const { body } = await graphql(
      `query ($filter: String, $orderBy: String, $after: String) {
        list: ${list}(filter: $filter, order: $orderBy, after: $after) { ${selection} }
      }`,
      query,
    );
    times.push(performance.now() - begin);
    expect(body.errors).toBeUndefined();
  }
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}

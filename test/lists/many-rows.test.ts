// Everything that lists say they can be filtered and ordered by. Their speed is measured by `npm run soak -- lists`.

import { beforeAll, expect, test } from 'vitest';
import { snakeCase } from '../../src/api/naming.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { isLong } from '../support/shortened.ts';
import { allLists, fillLists, type ListQuery, queriesOf, rowsMaxOf, tableNameOf } from './many-rows.ts';

const ROWS = 60;
/** In one document. */
const FIELDS = 12;

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  await fillLists(gateway, account, ROWS);
});

test('every member of every list can be filtered by, and ordered by where it says so', async () => {
  for (const list of allLists()) {
    const { body } = await account.graphql(`{ ${list.plural}(last: 5) { totalCount nodes { id } } }`);
    const { totalCount, nodes } = body.data[list.plural];
    expect(totalCount, list.plural).toBeGreaterThanOrEqual(Math.min(ROWS / 5, rowsMaxOf(list)));
    const queries = chosen(queriesOf(list, nodes[0].id));
    for (let from = 0; from < queries.length; from += FIELDS) {
      const fields = queries.slice(from, from + FIELDS).map((args, i) => {
        const given = Object.entries(args).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
        return `_${i}: ${list.plural}(${given.join(', ')}) { nodes { id } }`;
      });
      const { body: found } = await account.graphql(`{ ${fields.join(' ')} }`);
      expect(found.errors, `${list.plural}: ${fields.join('\n')}`).toBeUndefined();
    }
  }
});

/** In `npm test` one filter of each member, and of each order, in turn, one direction from the first page or the other from the middle on. */
function chosen(queries: ListQuery[]): ListQuery[] {
  if (isLong) return queries;
  const members = queries.map(({ filter = '' }) => /obj\.([\w.]+)/.exec(filter)?.[1]);
  const ordered = [...new Set(queries.map(({ order }) => order?.split(' ')[0]))];
  return queries.filter(({ order, filter, after }, index) => {
    if (filter !== undefined) return members.indexOf(members[index]) === index;
    const isFirstPage = after === undefined;
    const isTurn = ordered.indexOf(order?.split(' ')[0]) % 2 === Number(isFirstPage);
    return isTurn && order?.endsWith('asc') === isFirstPage;
  });
}

test('every member that a list can be ordered by has an index on the account, the member and the id', async () => {
  const rows = await gateway.app.prisma.$queryRaw<{ tablename: string; indexdef: string }[]>`
    SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema()`;
  const indexed = rows.map(({ tablename, indexdef }) => {
    return `${tablename}(${/\((.*)\)/.exec(indexdef)?.[1]?.replaceAll('"', '')})`;
  });
  for (const list of allLists())
    for (const { column, isOrdered } of Object.values(list.members ?? {})) {
      if (!isOrdered || column === 'id') continue;
      const possible = ['', 'kind, '].map(
        (kind) => `${tableNameOf(list)}(account_id, ${kind}${snakeCase(column)}, id)`,
      );
      // Unique with the account already.
      if (column === 'subject') possible.push('owner(account_id, kind, subject)');
      expect(
        indexed.filter((index) => possible.includes(index)),
        possible[0],
      ).not.toEqual([]);
    }
});

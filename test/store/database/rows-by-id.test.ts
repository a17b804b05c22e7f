// Rows that are read in SQL are those that Prisma reads.

import { beforeAll, expect, test } from 'vitest';
import { registeredResources, tableOf } from '../../../src/api/collections/nodes.ts';
import {
  allColumns,
  isSameRow,
  isWhole,
  lockRow,
  modelOf,
  type ObjectColumns,
  readRow,
} from '../../../src/store/database/rows-by-id.ts';
import { newId } from '../../../src/store/ids.ts';
import { fill, type Holder } from '../../accounts/sample-resources.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
let holder: Holder;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  holder = await fill(gateway, account);
});

test('the row of each kind is read and locked with its columns, as Prisma has them', async () => {
  const { prisma } = gateway.app;
  const { accountId } = account;
  const unset = newId('cr'); // Its list of rules is NULL in the database.
  await prisma.credential.createMany({ data: [{ id: unset, accountId, ownerId: account.ownerId, digest: unset }] });
  const ids: Record<string, string> = { ...holder.ids, credential: unset };
  const kinds: string[] = [];
  for (const resource of registeredResources()) {
    if (!resource.table || resource.find) continue; // Others are found in a way of their own.
    const id = ids[resource.kind] ?? 'none'; // Then its columns are there.
    const table = tableOf(resource, prisma);
    const model = modelOf(table);
    const select = allColumns(model);
    const locked = await lockRow(prisma, model, { id, accountId });
    if (id === 'none') continue;
    const row = (await table.findUnique({ where: { id }, select })) as ObjectColumns;
    expect(locked, resource.kind).toEqual(row);
    expect(isWhole(model, row) && isSameRow(model, row, locked as ObjectColumns), resource.kind).toBe(true);
    expect(await readRow(prisma, model, { id, accountId }), resource.kind).toEqual(row);
    const [, second = ''] = Object.keys(select);
    expect(await readRow(prisma, model, { id, accountId }, { [second]: true, other: true })).toEqual({
      id,
      [second]: row[second],
    });
    for (const read of [lockRow, readRow])
      expect(await read(prisma, model, { id, accountId: 'acc_other' })).toBeUndefined();
    kinds.push(resource.kind);
  }
  expect(kinds).toEqual(
    expect.arrayContaining(['credential', 'httpsEdge', 'tlsCertificate', 'eventDestination', 'user']),
  );
});

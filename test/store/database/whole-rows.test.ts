// Rows that are read in SQL are those that Prisma reads.

import { beforeAll, expect, test } from 'vitest';
import { registeredResources, tableOf } from '../../../src/api/collections/nodes.ts';
import {
  allColumns,
  isSameRow,
  isWhole,
  lockRow,
  modelOf,
  type WholeRow,
} from '../../../src/store/database/whole-rows.ts';
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

test('the row of each kind that is audited is locked with all its columns, as Prisma has them', async () => {
  const { prisma } = gateway.app;
  const { accountId } = account;
  const kinds: string[] = [];
  const unset = newId('cr'); // Its list of rules is NULL in the database.
  await prisma.credential.createMany({ data: [{ id: unset, accountId, ownerId: account.ownerId, digest: unset }] });
  const ids: Record<string, string> = { ...holder.ids, credential: unset };
  for (const resource of registeredResources().filter(({ audit }) => audit)) {
    const id = ids[resource.kind];
    const table = tableOf(resource, prisma);
    const model = modelOf(table);
    const locked = await lockRow(prisma, model, { id: id ?? 'none', accountId });
    if (!id) continue;
    const row = (await table.findUnique({ where: { id }, select: allColumns(model) })) as WholeRow;
    expect(locked, resource.kind).toEqual(row);
    expect(isWhole(model, row) && isSameRow(model, row, locked as WholeRow), resource.kind).toBe(true);
    expect(await lockRow(prisma, model, { id, accountId: 'acc_other' })).toBeUndefined();
    kinds.push(resource.kind);
  }
  expect(kinds).toEqual(
    expect.arrayContaining(['credential', 'httpsEdge', 'tlsCertificate', 'eventDestination', 'user']),
  );
});

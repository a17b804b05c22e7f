// Rows that are read in SQL, one or a page, are those that Prisma reads.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { registeredResources, tableOf } from '../../../src/api/collections/nodes.ts';
import { fieldsOfModel } from '../../../src/store/database/datamodel.ts';
import { type RowSelection, type RowSlice, readRowPage, rowSelection } from '../../../src/store/database/row-pages.ts';
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
import { root } from '../../support/root.ts';

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

test('a page of each kind is read with its columns and what they name, as Prisma has it', async () => {
  const { prisma } = gateway.app;
  const { accountId } = account;
  const kinds: string[] = [];
  for (const resource of registeredResources()) {
    if (!resource.table || resource.find) continue;
    const table = tableOf(resource, prisma);
    const model = modelOf(table);
    const isNamed = ({ kind, isList, name, relationFromFields }: ReturnType<typeof fieldsOfModel>[number]) =>
      kind === 'object' && !isList && relationFromFields?.length === 1 && name !== 'account';
    const named = fieldsOfModel(model).filter(isNamed);
    const relations = named.map(({ name }) => [name, { select: { id: true } }]);
    const columns = Object.keys(allColumns(model)).filter((name) => rowSelection(model, { select: { [name]: true } }));
    const own = Object.fromEntries(columns.map((name) => [name, true]));
    const whole = { ...own, ...Object.fromEntries(relations) };
    const select = (rowSelection(model, { select: whole }) ? whole : own) as RowSelection;
    const read = (slice: Omit<RowSlice, 'accountId'>) => readRowPage(prisma, model, { accountId, ...slice }, select);
    const found = ({ where, ...slice }: Omit<RowSlice, 'accountId'>) =>
      table.findMany({ ...slice, where: { ...where, accountId }, select: { ...select, id: true } }) as Promise<
        ObjectColumns[]
      >;
    const newest = { where: {}, orderBy: [{ id: 'desc' }], take: 3 } as const;
    const rows = await found(newest);
    const ids = (objects: ObjectColumns[]) => objects.map(({ id }) => id);
    expect(ids(await read(newest)), resource.kind).toEqual(ids(rows));
    expect(await read(newest), resource.kind).toMatchObject(rows);
    const [, second = { id: '' }] = rows;
    for (const slice of [
      { where: { id: { lt: second.id } }, orderBy: [{ id: 'desc' }], take: 100 },
      { where: { id: { gt: second.id } }, orderBy: [{ id: 'asc' }], take: 100 },
    ] as const)
      expect(ids(await read(slice)), resource.kind).toEqual(ids(await found(slice)));
    if (rows.length > 0) kinds.push(resource.kind);
  }
  expect(kinds).toEqual(
    expect.arrayContaining(['credential', 'httpsEdge', 'tlsCertificate', 'eventDestination', 'user']),
  );
});

test('a page has what its rows name as Prisma is told, and is not read so where there is more', async () => {
  const { prisma } = gateway.app;
  const { accountId } = account;
  const table = prisma.credential as unknown as { findMany(query: object): Promise<object[]> };
  const newest = { where: {}, orderBy: [{ id: 'desc' }], take: 3 } as const;
  for (const query of [
    {},
    { include: { owner: true } },
    { include: { owner: { include: { account: true } } } },
    { select: { acl: true, owner: { select: { active: true } } } },
  ]) {
    const selection = rowSelection('Credential', query) as RowSelection;
    const rows = await table.findMany({ ...newest, where: { accountId }, ...query });
    expect(await readRowPage(prisma, 'Credential', { accountId, ...newest }, selection)).toMatchObject(rows);
  }
  for (const more of [{ sessions: true }, { sessions: { select: { id: true } } }, { owner: { where: {} } }]) {
    expect(rowSelection('Credential', { select: { id: true, ...more } })).toBeUndefined();
    expect(rowSelection('Credential', { include: more })).toBeUndefined();
  }
});

// SQL gives the name of a value in the database, and of a list of values one text: Prisma has the names of the schema, in a list.
test('no kind whose rows are read in SQL has an enum whose values have other names in the database, or a list of an enum', async () => {
  const text = await readFile(join(root, 'prisma/schema.prisma'), 'utf8');
  const mapped = [...text.matchAll(/^enum (\w+) \{([^}]*)\}/gm)].flatMap(([, name = '', values = '']) =>
    /^\s*\w+\s+@map\(/m.test(values) ? [name] : [],
  );
  expect(mapped, 'the search finds what there is').toContain('CertificateState');
  const tables = registeredResources().filter(({ table }) => table);
  const enums = tables.flatMap((resource) => {
    const model = modelOf(tableOf(resource, gateway.app.prisma));
    return fieldsOfModel(model)
      .filter(({ kind }) => kind === 'enum')
      .map(({ type, isList }) => ({ kind: resource.kind, type, isList }));
  });
  expect(enums.map(({ type }) => type)).toContain('EdgeKind');
  expect(enums.filter(({ type, isList }) => isList || mapped.includes(type))).toEqual([]);
});

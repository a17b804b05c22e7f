// Many objects at once, of any kinds, by their ids.

import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { fill, type Holder, oneOfEach } from '../accounts/sample-resources.ts';
import { leaveBrowserSession } from '../accounts/sample-rows.ts';
import { type Account, countingGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { shapesOf, statementsOf } from '../support/gateway/statements.ts';

const NODES = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }';

let gateway: TestGateway;
let account: Account;
let holder: Holder;
let other: Holder;
beforeAll(async () => {
  gateway = await countingGateway();
  account = await gateway.newAccount();
  holder = await fill(gateway, account);
  other = await fill(gateway, await gateway.newAccount());
}, 90_000);

async function ask(ids: string[], query = NODES) {
  const { body } = await account.graphql(query, { ids });
  expect(body.errors).toBeUndefined();
  return body.data.nodes;
}

test('one of every kind is found, in the order asked for', async () => {
  const ids = Object.values(oneOfEach(holder)).reverse();
  const rows = await ask(ids);
  expect(rows.map(({ id }: { id: string }) => id)).toEqual(ids);
  for (const row of rows) {
    const kind = row.__typename.charAt(0).toLowerCase() + row.__typename.slice(1);
    expect(holder.ids[kind], row.__typename).toBe(row.id);
  }
});

test('unknown, malformed and foreign ids are null in their places, and one that stands twice is given twice', async () => {
  const { credential = '', user = '' } = holder.ids;
  const strange = [newId('cr'), 'nonsense', '', 'cr_\0', 'zz_012345678901234567890123456', ...Object.values(other.ids)];
  const rows = await ask([credential, ...strange, user, credential]);
  expect(rows.slice(1, -2)).toEqual(strange.map(() => null));
  expect([rows[0], ...rows.slice(-2)]).toMatchObject([{ id: credential }, { id: user }, { id: credential }]);
});

test('what users sign in with, what is captured and what was done is found as its lists show it', async () => {
  const { browserSession = '', passkey = '', auditEntry = '', capturedRequest = '', runningCapture = '' } = holder.ids;
  const ids = [browserSession, passkey, auditEntry, capturedRequest, runningCapture];
  const names = ['BrowserSession', 'Passkey', 'AuditEntry', 'CapturedRequest', 'RunningCapture'];
  const of = (found: ({ __typename: string } | null)[]) => found.map((row) => row?.__typename);
  expect(of(await ask(ids))).toEqual(names);

  const member = await account.addOwner({ kind: 'USER' });
  await gateway.app.prisma.auditEntry.update({ where: { id: auditEntry }, data: { objectId: account.ownerId } });
  const askAs = async (who: typeof member) => (await who.graphql(NODES, { ids })).body.data.nodes;
  expect(of(await askAs(member))).toEqual([undefined, undefined, undefined, undefined, 'RunningCapture']);
  await gateway.app.prisma.auditEntry.update({ where: { id: auditEntry }, data: { objectId: holder.ids.vault ?? '' } });
  expect(of(await askAs(member))).toEqual([undefined, undefined, 'AuditEntry', undefined, 'RunningCapture']);
  const own = await leaveBrowserSession(gateway, { accountId: account.accountId, ownerId: member.ownerId });
  expect(of((await member.graphql(NODES, { ids: [own] })).body.data.nodes)).toEqual(['BrowserSession']);
  const isOver = { expiresAt: new Date(0) };
  await gateway.app.prisma.browserSession.update({ where: { id: own }, data: isOver });
  expect(await ask([own])).toEqual([null]);
});

test('a hundred take as many statements as one of each kind, with what belongs to them', async () => {
  const { accountId, ownerId } = account;
  const ids = Array.from({ length: 50 }, () => ({ key: newId('ak'), credential: newId('cr') }));
  const row = (id: string) => ({ id, accountId, ownerId, digest: id });
  await gateway.app.prisma.apiKey.createMany({ data: ids.map(({ key }) => row(key)) });
  await gateway.app.prisma.credential.createMany({ data: ids.map(({ credential }) => row(credential)) });
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) {
    ... on Credential { id acl owner { id ... on User { email } } } ... on ApiKey { id owner { active } } } }`;
  const statementsFor = async (asked: typeof ids) => {
    await ask([]); // The caller is known from here on.
    const statements = await statementsOf(async () => {
      const rows = await ask(
        asked.flatMap(({ key, credential }) => [key, credential]),
        query,
      );
      expect(rows.filter((found: { owner?: object } | null) => found?.owner)).toHaveLength(asked.length * 2);
    });
    return shapesOf(statements);
  };
  const two = await statementsFor(ids.slice(0, 1));
  expect(two).toHaveLength(3);
  expect(await statementsFor(ids)).toEqual(two);
});

test('a hundred and one are refused', async () => {
  const { body } = await account.graphql(NODES, { ids: Array.from({ length: 101 }, () => newId('cr')) });
  expect(body.errors[0]).toMatchObject({
    message: 'ids may have at most 100 ids.',
    extensions: { code: 'BAD_USER_INPUT', errorCode: 'ERR_GATEWAY_90250', field: 'ids' },
  });
});

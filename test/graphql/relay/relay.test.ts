// Relay's store on a running gateway, with the code of the manual: whatever it warns of while it develops a page fails the tests.

import { isScalarType, isSpecifiedScalarType, parse, validate } from 'graphql';
import { ConnectionHandler } from 'relay-runtime';
import { afterAll, afterEach, beforeAll, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { schema } from '../../../src/api/schema.ts';
import { type Account, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { codeOf, PageCode } from '../page-code.ts';
import { compiledTexts } from './artifacts.ts';
import { follow, listOn, newEnvironment, runMutations } from './manual-page.ts';
import { RelayPage } from './page.ts';
import * as documents from './store.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway?.close());

let account: Account;
let code: PageCode;
let warnings: MockInstance[];
beforeEach(async () => {
  account = await gateway.newAccount();
  code = new PageCode(gateway.api, account.key);
  warnings = (['error', 'warn'] as const).map((method) => vi.spyOn(console, method).mockImplementation(() => {}));
});
afterEach(async () => {
  const said = warnings.flatMap(({ mock }) => mock.calls);
  for (const spy of warnings) spy.mockRestore();
  await code.close();
  expect(said).toEqual([]);
});

const newPage = async () => new RelayPage(await newEnvironment(code));

async function made(path: string, body: object = {}) {
  const answer = await account.call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** Some credentials beside the one that the account has, the newest first. @returns their ids. */
async function credentials(count: number): Promise<string[]> {
  for (let made = 0; made < count; made++)
    await account.call('POST', '/credentials', { description: `number ${made}` });
  return (await account.call('GET', '/credentials')).body.credentials.map(({ id }: { id: string }) => id);
}

test('what its compiler made of the documents fits the schema, whose scalars the manual gives it', () => {
  for (const text of compiledTexts) expect(validate(schema, parse(text)), text).toEqual([]);
  const { customScalarTypes } = JSON.parse(codeOf('Relay', 'json')[0] ?? '');
  const own = Object.values(schema.getTypeMap()).filter((type) => isScalarType(type) && !isSpecifiedScalarType(type));
  expect(Object.keys(customScalarTypes).sort()).toEqual(own.map(({ name }) => name).sort());
});

test('a list is paged to its end from either side, each object once and in its order', async () => {
  const ids = await credentials(4);
  for (const [count, end] of [
    ['first', 'hasNextPage'],
    ['last', 'hasPreviousPage'],
  ] as const) {
    const page = await newPage();
    const list = await listOn(code, page, { [count]: 2 });
    for (let pages = 1; list.info()[end]; pages++) {
      expect(list.ids()).toHaveLength(pages * 2);
      const { startCursor, endCursor } = list.info();
      await list.fetch(count === 'first' ? { first: 2, after: endCursor } : { last: 2, before: startCursor });
    }
    expect(list.ids()).toEqual(ids);
    expect(list.rows()[0].owner).toEqual({ email: expect.any(String) });
    page.close();
  }
});

test('what a mutation creates or deletes takes its place in a list', async () => {
  const before = await credentials(1);
  const environment = await newEnvironment(code);
  const page = new RelayPage(environment);
  const list = await listOn(code, page, { first: 10 });
  const seen: string[][] = [];
  page.heard = () => seen.push(list.ids());
  const { createCredential } = await runMutations(code, environment);
  expect(createCredential.token).toEqual(expect.any(String));
  expect(seen).toEqual([[createCredential.credential.id, ...before], before]);
  page.close();
});

test('edges and nodes go to either end of a list, and a deleted object leaves nothing of it', async () => {
  await made('/ip_policies', { description: 'there before' });
  const page = await newPage();
  const shown = await page.show(documents.policies, {});
  const connections = [ConnectionHandler.getConnectionID('client:root', 'store_ipPolicies')];
  const { createIpPolicy } = await page.mutate(documents.createFirst, { connections });
  await page.mutate(documents.createNext, { connections });
  await page.mutate(documents.createLast, { connections });
  const descriptions = () =>
    shown().ipPolicies.edges.map(
      ({ node }: { node: object | null }) => node && page.read(documents.policy, node).description,
    );
  expect(descriptions()).toEqual(['first', 'there before', 'next', 'last']);
  await page.mutate(documents.removePolicy, { id: createIpPolicy.ipPolicy.id });
  expect(descriptions()).toEqual([null, 'there before', 'next', 'last']);
  page.close();
});

test('an object that is met in two places is one, whole in both, and found again by its id', async () => {
  const { id, uri } = await made('/ip_policies', { description: 'office' });
  const createdAt = expect.stringMatching(/\.\d{3}Z$/);
  await made('/ip_policy_rules', { ip_policy_id: id, cidr: '192.0.2.0/24', action: 'allow' });
  const page = await newPage();
  const policies = await page.show(documents.policies, {});
  const rules = await page.show(documents.rules, {});
  const policy = () => page.read(documents.policy, policies().ipPolicies.edges[0].node);
  const ofRule = () => rules().ipPolicyRules.edges[0].node.ipPolicy;
  expect([policy(), ofRule()]).toEqual([
    { id, description: 'office', createdAt, metadata: '' },
    { description: 'office', uri },
  ]);
  const optimisticResponse = { updateIpPolicy: { ipPolicy: { id, description: 'soon' } } };
  const seen: string[] = [];
  page.heard = () => seen.push(ofRule().description);
  await page.mutate(documents.update, { id, description: 'home' }, optimisticResponse);
  expect(seen).toContain('soon');
  expect([policy(), ofRule()]).toEqual([
    { id, description: 'home', createdAt, metadata: '' },
    { description: 'home', uri },
  ]);
  await account.call('PATCH', `/ip_policies/${id}`, { metadata: 'changed' });
  await page.fetch(documents.policy, { id });
  expect([policy().metadata, ofRule().description]).toEqual(['changed', 'home']);
  page.close();
});

test('owners are users or bot users wherever they are met', async () => {
  const bot = await made('/bot_users', { name: 'robot' });
  await made('/credentials', { owner_id: bot.id });
  const page = await newPage();
  const shown = await page.show(documents.owners, {});
  const ownersIn = (list: 'credentials' | 'apiKeys') =>
    shown()[list].nodes.map((row: { owner: object }) => page.read(documents.owner, row.owner));
  expect(ownersIn('credentials')).toContainEqual({ id: bot.id, name: 'robot' });
  expect(ownersIn('apiKeys')).toContainEqual({ id: account.ownerId, email: expect.any(String) });
  page.close();
});

test('a subscription changes the object that the page shows, and has it ask again when there is one more or one less', async () => {
  const [id] = await credentials(1);
  const environment = await newEnvironment(code);
  const page = new RelayPage(environment);
  const list = await listOn(code, page, { first: 10 });
  let asked = 0;
  let asking = Promise.resolve();
  const refetch = () => {
    asked++;
    asking = asking.then(() => list.fetch({ first: 10 }));
  };
  const stop = await follow(code, environment, refetch);
  await expect.poll(() => asked).toBe(1); // The mark.
  await asking;
  await account.call('PATCH', `/credentials/${id}`, { description: 'told' });
  await expect
    .poll(() => list.rows()[0])
    .toMatchObject({ id, description: 'told', owner: { email: expect.any(String) } });
  expect(asked).toBe(1);
  const { id: another } = await made('/credentials');
  await expect.poll(() => list.ids()[0]).toBe(another);
  await account.call('DELETE', `/credentials/${another}`);
  await expect.poll(() => list.ids()[0]).toBe(id);
  stop.dispose();
  await asking;
  page.close();
});

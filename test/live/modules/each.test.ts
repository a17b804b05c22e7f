// What the API stores of a module is what visitors meet, at once: set, changed, off, on again, and unset.

import { beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { done, labelled, newEdge, newName, startShowing } from '../edges/support.ts';
import { moduleCases } from './cases.ts';
import { Prober } from './prober.ts';

let gateway: TestGateway;
let account: Account;
let authtoken: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  ({ authtoken } = await newCredential(account));
});

test.each(moduleCases)('$module acts on visitors as it is stored, from the next request on', async (row) => {
  const labels = { app: newName() };
  const edge = await newEdge(account, { labels });
  await labelled(await sdkSession(gateway, authtoken), labels, (await startShowing()).url);
  const visitor = new Prober(gateway, edge);
  const met = () => row.probe(visitor);
  const path = `${edge.host}/${row.module}`;
  const [one, two] = [await row.one(account), await row.two(account)];
  expect(await met(), 'not set').toEqual(row.without);
  await done(account, 'PUT', path, one);
  expect(await met(), 'set').toEqual(row.withOne);
  await done(account, 'PUT', path, two);
  expect(await met(), 'changed').toEqual(row.withTwo);
  await done(account, 'PUT', path, { ...one, enabled: false });
  expect(await met(), 'off').toEqual(row.without);
  expect(await done(account, 'GET', path)).toMatchObject({ enabled: false });
  await done(account, 'PUT', path, one);
  expect(await met(), 'on again').toEqual(row.withOne);
  await done(account, 'DELETE', path);
  expect(await met(), 'unset').toEqual(row.without);
});

test('what the API takes as a header field goes to visitors; what it refuses changes nothing', async () => {
  const labels = { app: newName() };
  const edge = await newEdge(account, { labels });
  await labelled(await sdkSession(gateway, authtoken), labels, (await startShowing()).url);
  const visitor = new Prober(gateway, edge);
  const values = { 'x-list': 'a, b', 'x-tab': 'a\tb', 'x-any': '日本 €', 'x-empty': '', 'x-blanks': ' a ' };
  await done(account, 'PUT', `${edge.host}/response_headers`, { add: values });
  const { headers } = await visitor.visit('/');
  for (const [name, value] of Object.entries(values))
    expect(Buffer.from(headers[name] as string, 'latin1').toString(), name).toBe(value.trim());
  for (const module of ['request_headers', 'response_headers']) {
    for (const name of ['connection', 'te', 'trailer', 'upgrade', 'keep-alive', 'host', 'expect', 'date']) {
      await account.call('PUT', `${edge.host}/${module}`, { add: { [name]: '100-continue' }, remove: [name] });
      expect(await visitor.fate(), `${name} in ${module}`).toBe(200);
    }
    await done(account, 'DELETE', `${edge.host}/${module}`);
  }
});

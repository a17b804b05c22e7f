// What the API stores of a module is what visitors meet, at once: set, changed, and off. Of a few it is shown what is the same
// for all: that it is on again, and unset.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { openSdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { shortened } from '../../support/shortened.ts';
import { done, labelled, newEdge, startShowing, type TestEdge } from '../edges/support.ts';
import { moduleCases } from './cases.ts';
import { Prober } from './prober.ts';

let gateway: TestGateway;
let account: Account;
let sdk: Awaited<ReturnType<typeof openSdkSession>>;
/** The edge of all tests, which has no module between them. */
let edge: TestEdge;
let visitor: Prober;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  sdk = await openSdkSession(gateway, (await newCredential(account)).authtoken);
  edge = await newEdge(account, { labels: LABELS });
  visitor = new Prober(gateway, edge);
});
afterAll(() => sdk?.close());

const LABELS = { app: 'each' };
const some = new Set(shortened([['basic_auth', 'traffic_policy'], moduleCases.map(({ module }) => module)]).flat());

/** Puts an upstream behind the edge until the test ends. */
async function serve(): Promise<void> {
  const listener = await labelled(sdk.session, LABELS, (await startShowing()).url);
  onTestFinished(() => listener.close());
}

test.each(moduleCases)('$module acts on visitors as it is stored, from the next request on', async (row) => {
  await serve();
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
  if (some.has(row.module)) {
    await done(account, 'PUT', path, one);
    expect(await met(), 'on again').toEqual(row.withOne);
  }
  await done(account, 'DELETE', path);
  if (some.has(row.module)) expect(await met(), 'unset').toEqual(row.without);
});

test('what the API takes as a header field goes to visitors; what it refuses changes nothing', async () => {
  await serve();
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

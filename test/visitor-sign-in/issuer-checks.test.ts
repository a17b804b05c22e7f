// The issuers of policies are read when a policy is set.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { newEdge, newName, newRoute, type TestEdge } from '../live/edges/support.ts';
import { type Issuer, keyPair, startIssuer } from '../policy/actions/issuer.ts';
import { type Account, sharedGateway } from '../support/gateway/gateway.ts';
import { CLIENT } from './provider.ts';
import { type Stage, setStage } from './support.ts';

const DESCRIPTION = '/.well-known/openid-configuration';

let account: Account;
let stage: Stage;
let issuer: Issuer;
let edge: TestEdge;
let at: string;
beforeAll(async () => {
  const gateway = await sharedGateway();
  stage = await setStage(gateway);
  account = await gateway.newAccount();
  issuer = await startIssuer([await keyPair()]);
  edge = await newEdge(account);
  at = `${await newRoute(account, edge, { match: '/' })}/traffic_policy`;
});
afterAll(async () => {
  await stage.close();
  await issuer.close();
});

const signingIn = (issuer_url: string, ...expressions: string[]) =>
  JSON.stringify({
    on_http_request: [{ expressions, actions: [{ type: 'openid-connect', config: { issuer_url, ...CLIENT } }] }],
  });
const put = (value: string, more: object = {}) => account.call('PUT', at, { value, ...more });
const asked = () => issuer.asked.filter((path) => path.endsWith(DESCRIPTION)).length;

test('one that cannot be read is refused, with the reason, and nothing is changed', async () => {
  for (const [url, reason] of [
    ['http://127.0.0.1:1', /cannot be read: .*ECONNREFUSED/],
    [`${issuer.url}/nowhere`, /could not be fetched/],
    [`${issuer.url}/`, /the description of another issuer/],
  ] as const) {
    const refused = await put(signingIn(url));
    expect([refused.status, refused.body.error_code]).toEqual([400, 'ERR_GATEWAY_2227']);
    expect(refused.body.msg).toMatch(/^value: on_http_request\[0\]\.actions\[0\]\.config\.issuer_url names an issuer/);
    expect(refused.body.msg).toMatch(reason);
  }
  expect((await account.call('GET', at)).status).toBe(404);
});

test('one that can be read is read once; while it is away, rules can be changed, and a policy switched off', async () => {
  const before = asked();
  expect((await put(signingIn(issuer.url))).status).toBe(200);
  expect(asked()).toBe(before + 1);
  issuer.answer(DESCRIPTION, {}, 503);
  expect((await put(signingIn(issuer.url, "req.method == 'GET'"))).status).toBe(200);
  expect((await put(signingIn('http://127.0.0.1:1'), { enabled: false })).status).toBe(200);
  expect(asked()).toBe(before + 1);
});

test('a new route with a policy is created once, also under an idempotency key', async () => {
  const other = await startIssuer([await keyPair()]);
  const body = {
    ...{ match_type: 'exact_path', match: `/${newName()}` },
    traffic_policy: { value: signingIn(other.url) },
  };
  const headers = { 'Idempotency-Key': newName() };
  const [first, second] = [
    await account.call('POST', `${edge.at}/routes`, body, { headers }),
    await account.call('POST', `${edge.at}/routes`, body, { headers }),
  ];
  expect([first.status, second.body.id]).toEqual([201, first.body.id]);
  await other.close();
});

test('a tunnel is served whose issuer is away: its device must come back', async () => {
  await expect(stage.serve({ issuer_url: 'http://127.0.0.1:1' })).resolves.toMatch(/^http/);
});

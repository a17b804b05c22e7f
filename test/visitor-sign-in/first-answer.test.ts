// The way of an answer from the callback to the host of its log-in, where others want to have it: by policies and by modules.

import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sealAnswer } from '../../src/visitor-sign-in/attempts.ts';
import { VisitorSignIn } from '../../src/visitor-sign-in/visitor-sign-in.ts';
import { labelled, newEdge, newName, startShowing } from '../live/edges/support.ts';
import { newCredential } from '../support/agents/live.ts';
import { sdkSession } from '../support/agents/sdk.ts';
import { sharedGatewayWithAccount, type TestGateway } from '../support/gateway/gateway.ts';
import { CLIENT } from './provider.ts';
import { errorOf, type Stage, setStage } from './support.ts';

let gateway: TestGateway;
let stage: Stage;

beforeAll(async () => {
  gateway = await sharedGatewayWithAccount();
  stage = await setStage(gateway);
});
afterAll(() => stage.close());

/** The origin of an edge whose route has the module. */
async function routed(): Promise<string> {
  const labels = { app: newName() };
  const edge = await newEdge(gateway, { labels, modules: { oidc: { issuer: stage.provider.issuer, ...CLIENT } } });
  const { authtoken } = await newCredential(gateway);
  await labelled(await sdkSession(gateway, authtoken), labels, (await startShowing()).url);
  return `https://${edge.name}:${gateway.https.split(':')[1]}`;
}

const isFinish = (url: string) => url.includes('/_gateway/oauth2/finish');

describe.each([
  ['a policy', () => stage.serve()],
  ['a module', routed],
])('by %s', (_, serve) => {
  test('the first arrival ends a log-in: whoever has begun it and got hold of the answer cannot use it', async () => {
    const origin = await serve();
    const attacker = stage.browser();
    const asked = await attacker.open(`${origin}/orders`, { follows: false });
    const victim = stage.browser();
    const { headers } = await stage.reach(victim, asked.headers.location ?? '', isFinish);
    const answer = headers.location ?? '';
    expect(errorOf(await victim.open(answer))).toBe('ERR_GATEWAY_3121');
    expect(errorOf(await attacker.open(answer))).toBe('ERR_GATEWAY_3123');
  });

  test("it goes to the endpoint's own port: one that the visitor names may be another account's", async () => {
    const origin = await serve();
    const { protocol, hostname } = new URL(origin);
    for (const port of [':1', ':21053', ':']) {
      const { headers } = await stage.reach(stage.browser(), `${protocol}//${hostname}${port}/`, isFinish);
      expect(new URL(headers.location ?? '').origin).toBe(origin);
    }
  });

  test('no capture has what the gateway itself answers', async () => {
    const origin = await serve();
    const { endpoints } = (await gateway.call('GET', '/endpoints')).body;
    const { hostname } = new URL(origin);
    const { id } = endpoints.find(({ hostport }: { hostport: string }) => hostport.startsWith(`${hostname}:`));
    await gateway.graphql(
      'mutation ($id: ID!) { startTrafficCapture(endpointId: $id, input: {}) { trafficCapture { isOn } } }',
      { id },
    );
    const { browser } = await stage.signIn(`${origin}/orders`);
    await browser.open(`${origin}/_gateway/login?redirect_path=/a`, { follows: false });
    await browser.open(`${origin}/_gateway/logout`);
    const { body } = await gateway.graphql(
      'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { path } } }',
      { id },
    );
    const paths = body.data.capturedRequests.nodes.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(['/orders', '/orders']);
  });
});

test('strangers who bring answers to log-ins of their own are slowed down, so that little is remembered of them', async () => {
  const { keys, prisma, changes } = gateway.app;
  const now = () => 1_800_000_000_000;
  const providerOf = () => {
    throw new Error('nobody is asked');
  };
  const log = pino({ level: 'silent' });
  const signIn = new VisitorSignIn({
    keys,
    prisma,
    changes,
    now,
    log,
    providerOf,
    baseUrl: () => '',
    baseDomain: 'a.test',
  });
  const origin = 'https://a.test';
  const from = async (ip: string) => {
    const answer = sealAnswer(keys, { id: randomUUID(), origin, at: now(), query: 'code=a' }) ?? '';
    const place = { accountId: 'ac_1', endpointId: 'ep_1', publicUrl: origin, origin, ip, userAgent: '' };
    return signIn.finish(answer, [], place);
  };
  const spent = () => prisma.spentChallenge.count({ where: { expiresAt: { gt: new Date(now()) } } });
  for (let i = 0; i < 300; i++) expect(await from('192.0.2.1')).toMatchObject({ error: 'signInNotBegun' });
  expect(await from('192.0.2.1')).toMatchObject({ error: 'rateLimited' });
  expect(await spent()).toBe(300);
  expect(await from('192.0.2.2')).toMatchObject({ error: 'signInNotBegun' });
});

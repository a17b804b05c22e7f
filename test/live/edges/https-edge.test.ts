// Edges that the API has made, as visitors meet them: which names they answer, and with what.

import { beforeAll, expect, test } from 'vitest';
import { newCredential, reserve, type TestCredential } from '../../support/agents/live.ts';
import { codeOf, rawAgent } from '../../support/agents/raw-agent.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { type Account, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';
import {
  backendOf,
  done,
  errorOf,
  labelled,
  newEdge,
  newName,
  newRoute,
  shown,
  startShowing,
  visitEdge,
} from './support.ts';

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  credential = await newCredential(account);
});

const session = () => sdkSession(gateway, credential.authtoken);
const who = async (edge: { name: string }, path = '/') => {
  const answer = await visitEdge(gateway, edge, path);
  return answer.status === 200 ? shown(answer).upstream : errorOf(answer);
};
const endpointsOf = async (name: string) =>
  (await done(account, 'GET', '/endpoints')).endpoints.filter(
    ({ hostport }: { hostport: string }) => hostport === `${name}:443`,
  );

test('what stands between a visitor and the upstream is told apart: no route, no backend, no tunnel', async () => {
  const labels = { app: newName() };
  const edge = await newEdge(account);
  expect(await who(edge)).toBe(90130);
  const route = await newRoute(account, edge, { match: '/' });
  expect(await visitEdge(gateway, edge)).toMatchObject({ status: 502 });
  expect(await who(edge)).toBe(90131);
  const backend = await backendOf(account, labels);
  await done(account, 'PUT', `${route}/backend`, backend);
  expect(await visitEdge(gateway, edge)).toMatchObject({ status: 502 });
  expect(await who(edge)).toBe(6528);
  const upstream = await startShowing();
  await labelled(await session(), labels, upstream.url);
  expect(await who(edge)).toBe('one');
  await done(account, 'PUT', `${route}/backend`, { ...backend, enabled: false });
  expect(await who(edge)).toBe(90131);
  await done(account, 'PUT', `${route}/backend`, backend);
  expect(await who(edge)).toBe('one');
  await done(account, 'DELETE', `${route}/backend`);
  expect(await who(edge)).toBe(90131);
  await done(account, 'DELETE', route);
  expect(await who(edge)).toBe(90130);
});

test('plain HTTP of an edge’s name leads to HTTPS, with path and query', async () => {
  const edge = await newEdge(account, { labels: { app: newName() } });
  const { port } = new URL(`https://${gateway.https}`);
  expect(await visit(`http://${edge.name}/a/b?c=d`, gateway.http, { method: 'POST', body: 'x' })).toMatchObject({
    status: 307,
    headers: { location: `https://${edge.name}:${port}/a/b?c=d` },
  });
});

test('an edge is among the endpoints while it has a backend that is on', async () => {
  const edge = await newEdge(account, { labels: { app: newName() } });
  const [endpoint] = await endpointsOf(edge.name);
  expect(endpoint).toMatchObject({ type: 'edge', proto: 'https', edge: { id: edge.id }, tunnel: null });
  expect(endpoint.edge.uri).toMatch(new RegExp(`${edge.at}$`));
  const { backend } = await done(account, 'GET', edge.host);
  const settings = { backend_id: backend.backend.id };
  await done(account, 'PUT', `${edge.host}/backend`, { ...settings, enabled: false });
  expect(await endpointsOf(edge.name)).toEqual([]);
  await done(account, 'PUT', `${edge.host}/backend`, settings);
  expect(await endpointsOf(edge.name)).toHaveLength(1);
  await done(account, 'DELETE', `${edge.host}/backend`);
  expect(await endpointsOf(edge.name)).toEqual([]);
  await done(account, 'PUT', `${edge.host}/backend`, settings);
  await done(account, 'DELETE', edge.at);
  expect(await endpointsOf(edge.name)).toEqual([]);
  expect(await who(edge)).toBe(90100);
});

test('a name that moves to another edge is that one’s at once, also on connections that are open', async () => {
  const [old, next] = [{ app: newName() }, { app: newName() }];
  const [from, to] = [await newEdge(account, { labels: old }), await newEdge(account, { labels: next })];
  const agent = await session();
  await labelled(agent, old, (await startShowing('old')).url);
  await labelled(agent, next, (await startShowing('next')).url);
  expect(await who(from)).toBe('old');
  const taken = await account.call('PATCH', to.at, { hostports: [`${from.name}:443`] });
  expect(taken.status).toBeGreaterThanOrEqual(400);
  expect(await who(from)).toBe('old');
  await done(account, 'PATCH', from.at, { hostports: [] });
  expect(await who(from)).toBe(90100);
  await done(account, 'PATCH', to.at, { hostports: [`${to.name}:443`, `${from.name}:443`] });
  expect([await who(from), await who(to)]).toEqual(['next', 'next']);
});

test('an edge for a wildcard answers what no edge and no tunnel below it does', async () => {
  const zone = newName('zone');
  const labels = { app: newName() };
  const agent = await session();
  await labelled(agent, labels, (await startShowing('wildcard')).url);
  await newEdge(account, { name: `*.${zone}`, labels });
  const below = { name: `a.${zone}` };
  expect(await who(below)).toBe('wildcard');
  const own = { app: newName() };
  await labelled(agent, own, (await startShowing('own')).url);
  const edge = await newEdge(account, { name: below.name, labels: own });
  expect([await who(below), await who({ name: `b.${zone}` })]).toEqual(['own', 'wildcard']);
  const tunnel = await agent
    .httpEndpoint()
    .domain(`c.${zone}`)
    .listenAndForward((await startShowing('tunnel')).url);
  expect(await who({ name: `c.${zone}` })).toBe('tunnel');
  await tunnel.close();
  await done(account, 'DELETE', edge.at);
  expect([await who(below), await who({ name: `c.${zone}` })]).toEqual(['wildcard', 'wildcard']);
});

test('a name is never an agent’s and an edge’s at once', async () => {
  const edge = await newEdge(account, { labels: { app: newName() } });
  const agent = await rawAgent(gateway);
  await agent.auth(credential.authtoken);
  for (const proto of ['http', 'https']) expect(codeOf(await agent.bind(edge.name, { Proto: proto }))).toBe(381);
  const name = newName();
  await reserve(account, name);
  expect((await agent.bind(name, { Proto: 'https' })).Error).toBe('');
  const refused = await account.call('PATCH', edge.at, { hostports: [`${name}:443`] });
  expect(refused).toMatchObject({ status: 409, body: { error_code: 'ERR_GATEWAY_7132' } });
});

// What a credential allows covers where policies lead, and comes before any work for them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies are full of them

import { beforeAll, expect, test } from 'vitest';
import { StreamType } from '../../src/protocol/index.ts';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent, rawAgent } from '../support/agents/raw-agent.ts';
import { eventually } from '../support/eventually.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

let gateway: TestGateway;
let account: Account;
let names = 0;
const newName = () => `bind-policy-${++names}.tunnel.localhost`;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

/** An agent whose credential has these rules. */
async function agentWith(acl: string[]): Promise<RawAgent & { credentialId: string }> {
  const { authtoken, credentialId } = await newCredential(account, { acl });
  const agent = await rawAgent(gateway);
  expect((await agent.auth(authtoken)).Error).toBe('');
  return Object.assign(agent, { credentialId });
}

const bindWith = (agent: RawAgent, name: string, policy: object) =>
  agent.bind(name, { Opts: { Hostname: name, TrafficPolicy: JSON.stringify(policy) } });
const forward = (url: string) => ({ on_http_request: [{ actions: [{ type: 'forward-internal', config: { url } }] }] });
const ask = (url: string) => ({
  on_http_request: [{ actions: [{ type: 'http-request', config: { url, on_error: 'halt' } }] }],
});
/** The actions that lead to internal endpoints. */
const ways: [string, (url: string) => object][] = [
  ['forward-internal', forward],
  ['http-request', ask],
];
const get = (name: string, headers: Record<string, string> = {}) => visit(`http://${name}/`, gateway.http, { headers });

/** An internal endpoint of the account. */
async function internal(): Promise<string> {
  const name = `billing-${++names}.internal`;
  expect((await (await agentWith([])).bind(name)).Error).toBe('');
  return name;
}

test.each(ways)(
  '%s leads to no internal endpoint that the ACL does not allow, and the refusal names the rule',
  async (_, to) => {
    const [billing, door] = [await internal(), newName()];
    const limited = await agentWith([`bind:${door}`]);
    const refused = await bindWith(limited, door, to(`http://${billing}`));
    expect(codeOf(refused)).toBe(90361);
    expect(refused.Error).toContain(`no rule "bind:${billing}"`);

    const { Id } = await limited.bind(door);
    const patch = { TunnelId: Id, Extra: {}, TrafficPolicy: JSON.stringify(to(`http://${billing}`)) };
    const patched = await limited.call(StreamType.PATCH_TUNNEL, patch);
    expect(codeOf(patched), JSON.stringify(patched)).toBe(90361);
    expect((await get(door)).body).not.toContain(billing);

    const allowed = await agentWith([`bind:${newName()}`, 'bind:*.tunnel.localhost', `bind:${billing}`]);
    const other = newName();
    expect((await bindWith(allowed, other, to(`http://${billing}`))).Error).toBe('');
    expect((await get(other)).status).toBe(200);
  },
);

test.each(ways)('%s: nor to one whose name is made of what a visitor sends; the log says why', async (_, to) => {
  const [billing, other, door] = [await internal(), await internal(), newName()];
  const limited = await agentWith([`bind:${door}`, `bind:${other}`]);
  expect((await bindWith(limited, door, to("http://${getReqHeader('x-to')[0]}"))).Error).toBe('');
  expect((await get(door, { 'x-to': other })).status).toBe(200);
  for (const name of [billing, billing.toUpperCase(), `${billing}:80`]) {
    const refused = await get(door, { 'x-to': name });
    expect(refused.status, name).toBe(403);
    expect(refused.headers['gateway-error-code']).toBe('ERR_GATEWAY_90362');
    const operationId = refused.headers['service-operation-id'];
    const { reason } = await gateway.logged((line) => line.operationId === operationId && 'reason' in line);
    expect(reason).toContain(`no rule that allows ${billing}`);
  }
});

test.each(ways)('a changed ACL ends what leads where it may not any more: %s', async (_, to) => {
  const [billing, fixed, computed] = [await internal(), newName(), newName()];
  const agent = await agentWith([]);
  const { Id } = await bindWith(agent, fixed, to(`http://${billing}`));
  await bindWith(agent, computed, to("http://${getReqHeader('x-to')[0]}"));
  const statuses = async () => [(await get(fixed)).status, (await get(computed, { 'x-to': billing })).status];
  expect(await statuses()).toEqual([200, 200]);
  await account.call('PATCH', `/credentials/${agent.credentialId}`, { acl: ['bind:*.tunnel.localhost'] });
  await eventually(async () => expect(await statuses()).toEqual([404, 403]));
  const told = agent.asked.map(({ request }) => [request.Id, codeOf({ Error: request.ErrorCode })]);
  expect(told).toEqual([[Id, 90361]]);
});

test('what an admin sets for an edge is not for the ACL of an authtoken to say', async () => {
  const billing = await internal();
  await agentWith([`bind:${newName()}`]);
  const { body: edge } = await account.call('POST', '/edges/https', {});
  const value = JSON.stringify(forward(`https://${billing}`));
  const { status, text } = await account.call('POST', `/edges/https/${edge.id}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    traffic_policy: { value },
  });
  expect(status, text).toBe(201);
});

test('a name that the ACL forbids is refused before its policy is looked at', async () => {
  const agent = await agentWith([`bind:${newName()}`]);
  const wrong = { on_http_request: [{ expressions: ['this is no expression'], actions: [{ type: 'deny' }] }] };
  expect(codeOf(await bindWith(agent, newName(), wrong))).toBe(316);
  const anyPort = { Proto: 'tcp', Opts: { TrafficPolicy: 'not a policy' } };
  expect(codeOf(await agent.bind('', anyPort))).toBe(356);
});

test('what was allowed a moment ago is', async () => {
  const [first, later] = [newName(), newName()];
  const agent = await agentWith([`bind:${first}`]);
  await account.call('PATCH', `/credentials/${agent.credentialId}`, { acl: [`bind:${later}`] });
  expect((await agent.bind(later)).Error).toBe('');
});

test('visitors go on while a large policy is compiled', async () => {
  const agent = await agentWith([]);
  const busy = newName();
  await agent.bind(busy);
  await get(busy);
  // Half as large as policies may be: what counts is how many visits there are meanwhile, also on a fast machine.
  const rules = Array.from({ length: 100 }, (_, i) => ({
    expressions: Array.from({ length: 6 }, (_, j) => `req.method=='G${i}' || req.host=='x${j}'`),
    actions: [{ type: 'deny' }],
  }));
  let isBound = false;
  const bound = bindWith(agent, newName(), { on_http_request: rules }).finally(() => {
    isBound = true;
  });
  let visits = 0;
  for (; !isBound; visits++) expect((await get(busy)).status).toBe(200);
  expect((await bound).Error).toBe('');
  expect(visits).toBeGreaterThan(10);
});

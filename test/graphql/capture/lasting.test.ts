// A capture is of an address: it goes on without its agent, with another one, and is over when its time or its owner's right is.

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { newClient, PATIENT } from '../../agent/client/support.ts';
import { newName } from '../../live/edges/support.ts';
import { newCredential } from '../../support/agents/live.ts';
import { eventually } from '../../support/eventually.ts';
import type { Owner } from '../../support/gateway/gateway.ts';
import { subscribe } from '../../support/gateway/sse.ts';
import { type CaptureLab, captureOperation, startCaptureLab } from './lab.ts';

let lab: CaptureLab;
beforeAll(async () => {
  lab = await startCaptureLab();
});
afterAll(() => lab?.close());

const LOOK = `query ($id: ID!) { trafficCapture(endpointId: $id) {
  running { id } endpointId state isOn kept passed startedAt startedBy recordedSince endsAt mayLook } }`;
const RUNNING = `{ runningCaptures { nodes { id publicUrl state startedBy endsAt endpoint { id publicUrl forwardsTo }
  offlineEndpoint { id reason } } } }`;
const START = captureOperation('startTrafficCapture', ', input: $input');
const STOP = captureOperation('stopTrafficCapture');
const HISTORY = 'query ($id: ID!) { objectHistory(id: $id) { nodes { action actorId } } }';

const look = (id: string, owner?: Owner) => lab.run(LOOK, { id }, owner);
const pathsOf = async (id: string) => (await lab.requests(id)).map(({ path }) => path);

/** An agent that serves a name by itself, so that it can go and come. */
async function agent(owner: Owner = lab.account, name = newName('lasting'), credential?: { authtoken: string }) {
  const { authtoken } = credential ?? (await newCredential(owner));
  const [host = '', port] = lab.gateway.agent.split(':');
  const { client, open } = newClient({ host, port: Number(port), ca: lab.gateway.ca }, { authtoken }, PATIENT);
  onTestFinished(() => client.close());
  const forwardsTo = new URL(lab.upstream).host;
  await open({ protocol: 'http', domain: name, policy: null, forwardsTo }).answered;
  const { endpoints } = (await owner.call('GET', '/endpoints')).body;
  const { id } = endpoints.find(({ hostport }: { hostport: string }) => hostport.startsWith(`${name}:`));
  return { name, id, scheme: 'http' as const, close: () => client.close() };
}

/** Waits until a name is among the offline endpoints. @returns the id of that. */
async function offline(name: string): Promise<string> {
  let id = '';
  await eventually(async () => {
    const { nodes } = await lab.run('{ offlineEndpoints { nodes { id publicUrl } } }');
    id = nodes.find(({ publicUrl }: { publicUrl: string }) => new URL(publicUrl).hostname === name)?.id ?? '';
    expect(id).not.toBe('');
  });
  return id;
}

test('it goes on when another agent serves the address, with what was captured before', async () => {
  const first = await agent();
  const { running } = await lab.run(
    'mutation ($id: ID!) { startTrafficCapture(endpointId: $id, input: { redactHeaders: ["x-own"] }) { trafficCapture { running { id } } } }',
    first,
  );
  const captureId = running.id;
  expect(captureId).toMatch(/^tcap_/);
  await lab.visit(first, '/first');
  await first.close();
  const offlineId = await offline(first.name);
  expect(await look(offlineId)).toMatchObject({
    running: { id: captureId },
    endpointId: offlineId,
    state: 'WAITING',
    kept: 1,
  });
  expect(await pathsOf(offlineId)).toEqual(['/first']);

  const second = await agent(lab.account, first.name);
  expect(second.id).not.toBe(first.id);
  await lab.visit(second, '/second', { headers: { 'x-own': 'top-secret-9' } });
  expect(await look(second.id)).toMatchObject({
    running: { id: captureId },
    state: 'RECORDING',
    isOn: true,
    kept: 2,
    passed: 2,
  });
  const [newest, oldest] = await lab.requests(second.id);
  expect([newest.path, newest.endpointId, oldest.path, oldest.endpointId]).toEqual([
    ...['/second', second.id],
    ...['/first', first.id],
  ]);
  // What came to the earlier agent can be sent to the one of now.
  expect(await lab.replay(oldest.id)).toMatchObject({
    status: 200,
    captured: { path: '/first', endpointId: second.id },
  });
});

test('who watches is told of what comes to the next agent', async () => {
  const first = await agent();
  await lab.start(first.id);
  const stream = await lab.watch(first.id, 'path endpointId');
  await first.close();
  await offline(first.name);
  const second = await agent(lab.account, first.name);
  await lab.visit(second, '/told');
  expect(await stream.next()).toEqual({ data: { requestCaptured: { path: '/told', endpointId: second.id } } });
});

test('one of an address that is offline waits, and is among the running ones until it is stopped', async () => {
  const account = await lab.gateway.newAccount();
  const { name, id, close } = await agent(account);
  await close();
  const found = async () => (await lab.run('{ offlineEndpoints { nodes { id } } }', {}, account)).nodes;
  await eventually(async () => expect(await found()).toHaveLength(1));
  const [{ id: offlineId }] = await found();
  const waiting = { endpointId: offlineId, isOn: true, kept: 0 };
  expect(await lab.run(START, { id: offlineId, input: { minutes: 5 } }, account)).toMatchObject(waiting);
  const [running, ...more] = (await lab.run(RUNNING, {}, account)).nodes;
  expect(more).toEqual([]);
  expect(running).toMatchObject({
    ...{ state: 'WAITING', startedBy: account.ownerId, endpoint: null },
    offlineEndpoint: { id: offlineId, reason: expect.any(String) },
  });
  expect(new URL(running.publicUrl).hostname).toBe(name);
  const member = await lab.gateway.newAccount();
  expect(await lab.run(RUNNING, {}, member)).toEqual({ nodes: [] });
  await expect(lab.run(STOP, { id: offlineId }, member)).rejects.toMatchObject({ code: 'NOT_FOUND' });

  expect(await lab.run(STOP, { id: offlineId }, account)).toMatchObject({ isOn: false });
  expect(await lab.run(RUNNING, {}, account)).toEqual({ nodes: [] });
  const { nodes } = await lab.run(HISTORY, { id: offlineId }, account);
  const by = { actorId: account.ownerId };
  expect(nodes).toEqual([
    { ...by, action: 'CAPTURE_STOPPED' },
    { ...by, action: 'CAPTURE_STARTED' },
  ]);
  expect(id).toMatch(/^ep_/);
});

test('one that waits records from the first request on', async () => {
  const { name, close } = await agent();
  await close();
  await lab.start(await offline(name));
  const again = await agent(lab.account, name);
  await lab.visit(again, '/at-once');
  expect(await pathsOf(again.id)).toEqual(['/at-once']);
  const { nodes } = await lab.run(RUNNING);
  expect(nodes).toContainEqual(
    expect.objectContaining({
      ...{ state: 'RECORDING', offlineEndpoint: null },
      endpoint: { id: again.id, publicUrl: expect.stringContaining(name), forwardsTo: expect.any(String) },
    }),
  );
});

test.each(['USER', 'BOT'] as const)('it ends when its owner, a %s, is deactivated', async (kind) => {
  const owner = await lab.account.addOwner({ kind });
  const tunnel = await lab.tunnel();
  await lab.run(START, { id: tunnel.id, input: {} }, owner);
  expect(await look(tunnel.id)).toMatchObject({ state: 'RECORDING', startedBy: owner.ownerId });
  const { running } = await look(tunnel.id);
  const [name, member] = kind === 'USER' ? ['updateUser', 'user'] : ['updateBotUser', 'botUser'];
  await lab.run(`mutation ($id: ID!) { ${name}(id: $id, input: { active: false }) { ${member} { id } } }`, {
    id: owner.ownerId,
  });
  expect(await look(tunnel.id)).toMatchObject({ state: 'OFF', running: null, startedBy: null });
  await lab.visit(tunnel, '/later');
  expect(await pathsOf(tunnel.id)).toEqual([]);
  const { nodes } = await lab.run(HISTORY, { id: running.id });
  expect(nodes).toEqual([{ action: 'CAPTURE_STOPPED', actorId: lab.account.ownerId }]);
});

test('it ends when the bot user that started it is deleted', async () => {
  const { id } = await lab.run('mutation { createBotUser(input: { name: "of a moment" }) { botUser { id } } }');
  const key = await lab.run('mutation ($id: ID!) { createApiKey(input: { ownerId: $id }) { apiKey { id } token } }', {
    id,
  });
  const tunnel = await lab.tunnel();
  const variables = { id: tunnel.id, input: {} };
  expect((await lab.account.graphql(START, variables, { key: key.token })).body.errors).toBeUndefined();
  expect(await look(tunnel.id)).toMatchObject({ startedBy: id });
  await lab.run('mutation ($id: ID!) { deleteApiKey(id: $id) { deletedApiKeyId } }', key);
  await lab.run('mutation ($id: ID!) { deleteBotUser(id: $id) { deletedBotUserId } }', { id });
  expect(await look(tunnel.id)).toMatchObject({ state: 'OFF' });
  await lab.visit(tunnel, '/later');
  expect(await pathsOf(tunnel.id)).toEqual([]);
});

test('who serves the address now does not see what an admin captured of the agent before', async () => {
  const first = await agent();
  await lab.start(first.id);
  await lab.visit(first, '/of-the-first');
  const [{ id: requestId }] = await lab.requests(first.id);
  await first.close();
  await offline(first.name);
  // The name is kept for the credential before.
  await lab.gateway.app.prisma.claim.deleteMany({ where: { address: `http:${first.name}` } });
  const member = await lab.account.addOwner();
  const second = await agent(member, first.name);
  await lab.visit(second, '/of-the-second');
  const list = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { path } } }';
  expect((await lab.run(list, { id: second.id }, member)).nodes).toEqual([{ path: '/of-the-second' }]);
  const one = 'query ($id: ID!) { capturedRequest(id: $id) { path } }';
  await expect(lab.run(one, { id: requestId }, member)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect(await pathsOf(second.id)).toEqual(['/of-the-second', '/of-the-first']);
});

test('a change of it is told in the change feed, once for what happened', async () => {
  const tunnel = await lab.tunnel();
  const query = 'subscription { changes(kinds: ["trafficCapture"]) { changes { kind action objectId } } }';
  const feed = await subscribe(lab.gateway.api, lab.account.key, query);
  onTestFinished(() => feed.close());
  expect(await feed.next()).toMatchObject({ data: { changes: { changes: [] } } });
  await lab.start(tunnel.id);
  const { id } = (await look(tunnel.id)).running;
  expect(await feed.next()).toMatchObject({
    data: { changes: { changes: [{ kind: 'trafficCapture', action: 'CREATED', objectId: id }] } },
  });
  await lab.run(STOP, { id: tunnel.id });
  expect(await feed.next()).toMatchObject({ data: { changes: { changes: [{ action: 'DELETED', objectId: id }] } } });
});

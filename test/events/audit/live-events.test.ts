// Agents' sessions and endpoints are told of when they come and go, as the API shows them.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StreamType } from '../../../src/protocol/index.ts';
import type { Change } from '../../../src/store/changes/changes.ts';
import { sweepExpiredAddresses } from '../../../src/store/nodes/nodes.ts';
import { bound, leaveTo, nameRequest, newClientId, newCredential, openSession } from '../../support/agents/live.ts';
import { rawAgent } from '../../support/agents/raw-agent.ts';
import { type Account, onServer, startTestGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { newPlace } from '../../support/gateway/place.ts';
import { shapesOf, statementsOf } from '../../support/gateway/statements.ts';
import { eventsOf, waiting } from '../waiting.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await startTestGateway({ NODE_LEASE_MS: '600000' }, { counting: true });
  account = await gateway.newAccount();
});
afterAll(() => gateway.close());

let names = 0;
const newName = () => `told${++names}.tunnel.localhost`;
const types = ['agent_session_start.v0', 'agent_session_stop.v0', 'endpoint_online.v0', 'endpoint_offline.v0'];

/** The next change of a kind, once it is committed. */
function next({ app: { changes } }: TestGateway, kind: string, action: Change['action']): Promise<Change> {
  return new Promise((resolve) => {
    const stop = changes.listen((change) => {
      if (change.kind !== kind || change.action !== action) return;
      stop();
      resolve(change);
    });
  });
}

/** As clients written for the original service get it: events show no session of an endpoint's agent. */
const get = async (path: string) => {
  const { status, body } = await account.call('GET', path, undefined, { dialect: 'extended' });
  expect(status).toBe(200);
  for (const endpoint of body.endpoints ?? [body]) delete endpoint.tunnel_session;
  return body;
};
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

describe('an agent', () => {
  test('comes, serves and leaves', async () => {
    const { events } = await waiting(gateway, account, types);
    const credential = await newCredential(account);
    const agent = await rawAgent(gateway);
    const opened = next(gateway, 'tunnelSession', 'CREATED');
    const about = { OS: 'linux', Arch: 'arm64', UserAgent: 'raw/1.0', Metadata: 'mine', Version: '1.2.3' };
    await agent.auth(credential.authtoken, { Extra: about });
    const session = await get(`/tunnel_sessions/${(await opened).id}`);
    const online = next(gateway, 'endpoint', 'CREATED');
    const { Id } = await agent.bind(newName());
    const first = await get(`/endpoints/${(await online).id}`);
    const offline = next(gateway, 'endpoint', 'DELETED');
    await agent.call(StreamType.UNBIND, { Id });
    await offline;
    const again = next(gateway, 'endpoint', 'CREATED');
    await agent.bind(newName());
    const second = await get(`/endpoints/${(await again).id}`);
    const gone = next(gateway, 'tunnelSession', 'DELETED');
    agent.close();
    await gone;

    const shown = {
      session: { id: session.id, uri: session.uri },
      credential: { id: credential.credentialId, uri: `${gateway.api}/credentials/${credential.credentialId}` },
      agent_ip: '127.0.0.1',
      ingress_server_ip: '127.0.0.1',
      region: session.region,
      ingress_hostname: '',
      user_agent: 'raw/1.0',
      metadata: 'mine',
      os: 'linux',
      arch: 'arm64',
      transport: session.transport,
      started_at: session.started_at,
      expires_at: null,
      stopped_at: null,
      deprecated: null,
      error: '',
    };
    const told = await events();
    expect(told.map(({ event_type, principal, object }) => ({ event_type, principal, object }))).toEqual(
      [
        { event_type: 'agent_session_start.v0', object: shown },
        { event_type: 'endpoint_online.v0', object: first },
        { event_type: 'endpoint_offline.v0', object: first },
        { event_type: 'endpoint_online.v0', object: second },
        { event_type: 'endpoint_offline.v0', object: second },
        { event_type: 'agent_session_stop.v0', object: { ...shown, stopped_at: time } },
      ].map((event) => ({ ...event, principal: null })),
    );
    // In the documented order of the members.
    expect(Object.keys(told[0]?.object)).toEqual(Object.keys(shown));
    expect(Object.keys(told[1]?.object)).toEqual(Object.keys(first));
  });

  test('is lost, is replaced, loses its credential: why its session stopped is told', async () => {
    const { events } = await waiting(gateway, account, ['agent_session_stop.v0']);
    const { authtoken, credentialId, accountId } = await newCredential(account);
    const lost = await rawAgent(gateway);
    await lost.auth(authtoken);
    const ended = next(gateway, 'tunnelSession', 'DELETED');
    lost.socket.destroy();
    await ended;
    const clientId = newClientId();
    await openSession(gateway, { accountId, credentialId }, { clientId });
    await openSession(gateway, { accountId, credentialId }, { clientId });
    const revoked = await rawAgent(gateway);
    await revoked.auth(authtoken);
    const over = next(gateway, 'tunnelSession', 'DELETED');
    await account.call('DELETE', `/credentials/${credentialId}`);
    await over;
    const told = await events();
    expect(told.map(({ object }) => [object.credential?.id, object.error])).toEqual([
      [credentialId, expect.stringMatching(/./)],
      [credentialId, 'replaced by a new session'],
      [undefined, 'the credential was revoked'],
    ]);
  });

  test('with many tunnels leaves with as few statements as one with one', async () => {
    const { events, batches } = await waiting(gateway, account, ['endpoint_offline.v0', 'agent_session_stop.v0']);
    const credential = await newCredential(account);
    const leaving = async (tunnels: number) => {
      const sessionId = await openSession(gateway, credential);
      for (let i = 0; i < tunnels; i++) bound(await gateway.registrar.bind(nameRequest(sessionId, newName())));
      return shapesOf(await statementsOf(() => gateway.registrar.sessionClosed(sessionId, 0)));
    };
    const one = await leaving(1);
    expect(one.length).toBeGreaterThan(3);
    expect(await leaving(25)).toEqual(one);
    expect(await events('endpoint_offline.v0')).toHaveLength(26);
    expect((await batches()).map(({ length }) => length)).toEqual([2, 26]);
  });
});

test('a bind that takes over an address of a dead node writes that it went offline', async () => {
  const { events } = await waiting(gateway, account, ['endpoint_online.v0', 'endpoint_offline.v0']);
  const [credential, hostname] = [await newCredential(account), newName()];
  const dead = await openSession(gateway, credential);
  const before = bound(await gateway.registrar.bind(nameRequest(dead, hostname)));
  await leaveTo(gateway, dead, Date.now() - 1000);
  const after = bound(await gateway.registrar.bind(nameRequest(await openSession(gateway, credential), hostname)));
  expect((await events()).map(({ event_type, object }) => [event_type, object.id])).toEqual([
    ['endpoint_online.v0', before.endpointId],
    ['endpoint_offline.v0', before.endpointId],
    ['endpoint_online.v0', after.endpointId],
  ]);
});

test('a refused bind writes no event', async () => {
  const { events } = await waiting(gateway, account, types);
  const sessionId = await openSession(gateway, await newCredential(account));
  expect(await gateway.registrar.bind(nameRequest(sessionId, 'not-ours.example.org'))).toHaveProperty('refused');
  expect((await events()).map(({ event_type }) => event_type)).toEqual(['agent_session_start.v0']);
});

test('an edge answers, and answers no more', async () => {
  const { events } = await waiting(gateway, account, ['endpoint_online.v0', 'endpoint_offline.v0']);
  const domain = 'edge.example.net';
  await account.call('POST', '/reserved_domains', { domain });
  const { body: backend } = await account.call('POST', '/backends/tunnel_group', { labels: { app: 'x' } });
  const body = { hostports: [`${domain}:443`], metadata: 'ours', backend: { backend_id: backend.id } };
  const { body: edge } = await account.call('POST', '/edges/tls', body);
  const [first] = (await get('/endpoints')).endpoints.filter((endpoint: { edge: object }) => endpoint.edge);
  await account.call('DELETE', `${edge.uri}/backend`);
  await account.call('PUT', `${edge.uri}/backend`, { backend_id: backend.id });
  const [second] = (await get('/endpoints')).endpoints.filter((endpoint: { edge: object }) => endpoint.edge);
  await account.call('DELETE', edge.uri);
  expect(first.id).not.toBe(second.id);
  expect((await events()).map(({ event_type, object }) => ({ event_type, object }))).toEqual([
    { event_type: 'endpoint_online.v0', object: first },
    { event_type: 'endpoint_offline.v0', object: first },
    { event_type: 'endpoint_online.v0', object: second },
    { event_type: 'endpoint_offline.v0', object: second },
  ]);
});

describe('what a node served that died', () => {
  test('is told of by whoever clears it away, once', async () => {
    const { events } = await waiting(gateway, account, ['endpoint_offline.v0', 'agent_session_stop.v0']);
    const { prisma, changes } = gateway.app;
    const sessionId = await openSession(gateway, await newCredential(account));
    const { endpointId, tunnelId } = bound(await gateway.registrar.bind(nameRequest(sessionId, newName())));
    const { nodeId: own } = await prisma.tunnelSession.findUniqueOrThrow({ where: { id: sessionId } });
    const object = await get(`/endpoints/${endpointId}`);
    await leaveTo(gateway, sessionId, Date.now() - 3_600_000);
    const announced: Change[] = [];
    const stop = changes.listen((change) => void announced.push(change));
    const parts = { prisma, changes, baseUrl: () => gateway.api };
    await Promise.all([
      sweepExpiredAddresses(parts, { id: own, isSettled: true }, 0),
      sweepExpiredAddresses(parts, { id: own, isSettled: true }, 0),
    ]);
    stop();
    expect((await events()).map(({ event_type, object }) => [event_type, object])).toEqual([
      ['endpoint_offline.v0', object],
      ['agent_session_stop.v0', expect.objectContaining({ stopped_at: time, error: 'the gateway node was lost' })],
    ]);
    expect(announced.filter(({ action }) => action === 'DELETED').map(({ id }) => id)).toEqual([
      endpointId,
      tunnelId,
      sessionId,
    ]);
  });

  test('is told of by its next start, which other nodes hear, too', { timeout: 60_000 }, async () => {
    const place = await newPlace();
    const overrides = { SERVER_KEY: randomBytes(32).toString('base64') };
    const first = await startTestGateway(overrides, { place });
    const other = { ...overrides, DATA_DIR: `${place.dataDir}/other` };
    const witness = onServer ? await startTestGateway(other, { place }) : first;
    const own = await openSession(first, await newCredential(first));
    const { nodeId } = await first.app.prisma.tunnelSession.findUniqueOrThrow({ where: { id: own } });
    const sessionId = await openSession(witness, await newCredential(witness));
    const { endpointId } = bound(await witness.registrar.bind(nameRequest(sessionId, newName())));
    const { destinationId } = await waiting(witness, witness, ['endpoint_offline.v0', 'agent_session_stop.v0']);
    // Once it is stopped, it has left this: as if it had been killed.
    if (onServer) await first.close();
    await leaveTo(witness, sessionId, Date.now() + 3_600_000, onServer ? nodeId : undefined);
    const heard = onServer ? next(witness, 'tunnelSession', 'DELETED') : undefined;
    if (!onServer) await first.close();

    const again = await startTestGateway(overrides, { place });
    if (heard) expect((await heard).id).toBe(sessionId);
    const told = (await eventsOf(again, destinationId)).filter(({ object }) => object.session?.id !== own);
    expect(told.map(({ event_type, object }) => [event_type, object.id ?? object.session.id])).toEqual([
      ['endpoint_offline.v0', endpointId],
      ['agent_session_stop.v0', sessionId],
    ]);
    for (const one of [again, witness]) await one.close();
    await place.remove();
  });
});

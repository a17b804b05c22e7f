// Offline endpoints as GraphQL shows them, and how they are forgotten.

import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { bound, nameRequest, newCredential, openSession, type TestCredential } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type Subscription, subscribe } from '../support/gateway/sse.ts';

const HOLD_MS = 30_000;
const FIELDS = `id publicUrl proto hostport metadata forwardsTo onlineAt offlineAt reason heldUntil
  credential { id uri } agentVersion ip os`;

let gateway: TestGateway;
let account: Account;
let credential: TestCredential;
const open: Subscription[] = [];
beforeAll(async () => {
  gateway = await sharedGateway();
});
beforeEach(async () => {
  account = await gateway.newAccount();
  credential = await newCredential(account);
});
afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
});

let names = 0;
/** Serves a name and goes. @param holdMs how long it is kept; 0 for a good-bye. @returns the name. */
async function comeAndGo(holdMs = 0): Promise<string> {
  const hostname = `gone${++names}.tunnel.localhost`;
  const session = await openSession(gateway, credential);
  bound(await gateway.registrar.bind(nameRequest(session, hostname, { metadata: '<b>' })));
  await gateway.registrar.sessionClosed(session, holdMs, holdMs > 0 ? 'the connection was lost' : '');
  return hostname;
}

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it, the test says.
async function list(of: Pick<Account, 'graphql'> = account): Promise<any[]> {
  const { body } = await of.graphql(`{ offlineEndpoints { nodes { ${FIELDS} } } }`);
  expect(body.errors).toBeUndefined();
  return body.data.offlineEndpoints.nodes;
}

describe('an address that is offline', () => {
  test('is in the list with what was known of it, the newest first', async () => {
    const [first, second] = [await comeAndGo(), await comeAndGo(HOLD_MS)];
    const [newest, oldest] = await list();
    expect(newest).toEqual({
      id: expect.stringMatching(/^oep_\w{27}$/),
      publicUrl: `http://${second}`,
      proto: 'http',
      hostport: `${second}:80`,
      metadata: '<b>',
      forwardsTo: 'http://localhost:3000',
      onlineAt: expect.stringMatching(/Z$/),
      offlineAt: expect.stringMatching(/Z$/),
      reason: 'the connection was lost',
      heldUntil: expect.stringMatching(/Z$/),
      credential: { id: credential.credentialId, uri: `${gateway.api}/credentials/${credential.credentialId}` },
      agentVersion: '1.0.0',
      ip: '127.0.0.1',
      os: 'linux',
    });
    const heldFor = Date.parse(newest.heldUntil) - Date.parse(newest.offlineAt);
    expect(heldFor).toBeGreaterThanOrEqual(HOLD_MS - 1000);
    expect(heldFor).toBeLessThanOrEqual(HOLD_MS + 1000);
    expect(oldest).toMatchObject({ hostport: `${first}:80`, heldUntil: null, reason: 'the agent said good-bye' });
  });

  test('is found by its id, and as a node', async () => {
    const hostname = await comeAndGo();
    const [{ id }] = await list();
    const query = 'query ($id: ID!) { offlineEndpoint(id: $id) { hostport } node(id: $id) { __typename id } }';
    const { body } = await account.graphql(query, { id });
    const hostport = `${hostname}:80`;
    expect(body.data).toEqual({ offlineEndpoint: { hostport }, node: { __typename: 'OfflineEndpoint', id } });
  });

  test('names its credential only as long as that is there', async () => {
    await comeAndGo(HOLD_MS);
    await account.call('DELETE', `/credentials/${credential.credentialId}`);
    expect(await list()).toMatchObject([{ credential: null }]);
  });

  test('is told of as it comes, is served again, and is forgotten', async () => {
    const query = 'subscription { offlineEndpointChanged { action objectId offlineEndpoint { hostport } } }';
    const stream = await subscribe(gateway.api, account.key, query);
    open.push(stream);
    const hostname = await comeAndGo(HOLD_MS);
    const created = (await stream.next()).data.offlineEndpointChanged;
    expect(created).toMatchObject({ action: 'CREATED', offlineEndpoint: { hostport: `${hostname}:80` } });
    const session = await openSession(gateway, credential);
    bound(await gateway.registrar.bind(nameRequest(session, hostname)));
    const gone = { action: 'DELETED', objectId: created.objectId, offlineEndpoint: null };
    expect((await stream.next()).data.offlineEndpointChanged).toEqual(gone);
    await gateway.registrar.sessionClosed(session, 0);
    const { objectId: id } = (await stream.next()).data.offlineEndpointChanged;
    await account.graphql('mutation ($id: ID!) { forgetOfflineEndpoint(id: $id) { forgottenOfflineEndpointId } }', {
      id,
    });
    expect((await stream.next()).data.offlineEndpointChanged).toMatchObject({ action: 'DELETED', objectId: id });
  });
});

describe('to forget one', () => {
  const forget = 'mutation ($id: ID!) { forgetOfflineEndpoint(id: $id) { forgottenOfflineEndpointId } }';

  test('takes it from the list, once, and its name stays kept', async () => {
    const hostname = await comeAndGo(HOLD_MS);
    const [{ id }] = await list();
    const member = await account.addOwner();
    expect((await member.graphql(forget, { id })).body.data).toEqual({
      forgetOfflineEndpoint: { forgottenOfflineEndpointId: id },
    });
    expect(await list()).toEqual([]);
    const again = await account.graphql(forget, { id });
    expect(again.body.errors[0]).toMatchObject({
      message: 'There is no offline endpoint with this id.',
      extensions: { code: 'NOT_FOUND' },
    });
    const stranger = await openSession(gateway, await newCredential(account));
    expect(await gateway.registrar.bind(nameRequest(stranger, hostname))).toMatchObject({ refused: 'inUse' });
  });

  test('is for its own account', async () => {
    await comeAndGo();
    const [{ id }] = await list();
    const other = await gateway.newAccount();
    for (const unknown of [id, newId('oep'), newId('ep'), 'nonsense']) {
      const { body } = await other.graphql(forget, { id: unknown });
      expect(body.errors[0].extensions.code).toBe('NOT_FOUND');
    }
    expect(await list(other)).toEqual([]);
    expect(await list()).toHaveLength(1);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { bound, nameRequest, newCredential, openSession } from '../support/agents/live.ts';
import { eventually } from '../support/eventually.ts';
import {
  type Account,
  type Owner,
  onServer,
  sharedGateway,
  startTestGateway,
  type TestGateway,
} from '../support/gateway/gateway.ts';
import { endOf, openRawStream, type Subscription, subscribe } from '../support/gateway/sse.ts';

const CHANGES = 'subscription { credentialChanged { action objectId credential { description } } }';

let gateway: TestGateway;
let account: Account;
const open: Subscription[] = [];
beforeAll(async () => {
  gateway = await sharedGateway();
});
afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
});

async function watch({ key }: Owner, query = CHANGES, by = gateway): Promise<Subscription> {
  const stream = await subscribe(by.api, key, query);
  open.push(stream);
  return stream;
}

const event = (action: string, id: string, credential: object | null) => ({
  data: { credentialChanged: { action, objectId: id, credential } },
});

describe('a subscription', () => {
  test('hears of everything that happens to a credential', async () => {
    account = await gateway.newAccount();
    const stream = await watch(account);
    const { body } = await account.call('POST', '/credentials', { description: 'a' });
    expect(await stream.next()).toEqual(event('CREATED', body.id, { description: 'a' }));
    await account.call('PATCH', `/credentials/${body.id}`, { description: 'b' });
    expect(await stream.next()).toEqual(event('UPDATED', body.id, { description: 'b' }));
    await account.graphql('mutation ($id: ID!) { deleteCredential(id: $id) { deletedCredentialId } }', { id: body.id });
    expect(await stream.next()).toEqual(event('DELETED', body.id, null));
  });

  test('with a filter hears of what the filter leaves, and that it has left it', async () => {
    account = await gateway.newAccount();
    const described = async (id: string, description: string) =>
      void (await account.call('PATCH', `/credentials/${id}`, { description }));
    const there = (await account.call('POST', '/credentials', { description: 'shop one' })).body.id;
    const other = (await account.call('POST', '/credentials', { description: 'other' })).body.id;
    const stream = await watch(
      account,
      `subscription { credentialChanged(where: { description: { startsWith: "shop" } }) {
        action objectId hasLeft credential { description } } }`,
    );
    const told = async () => (await stream.next()).data.credentialChanged;
    const { body: unwanted } = await account.call('POST', '/credentials', { description: 'unwanted' });
    await described(other, 'still other');
    await described(there, 'gone');
    expect(await told()).toEqual({ action: 'UPDATED', objectId: there, hasLeft: true, credential: null });
    await described(there, 'gone for good');
    await account.call('DELETE', `/credentials/${unwanted.id}`);
    await described(other, 'shop two');
    const two = { objectId: other, hasLeft: false };
    expect(await told()).toEqual({ ...two, action: 'UPDATED', credential: { description: 'shop two' } });
    await account.call('DELETE', `/credentials/${other}`);
    expect(await told()).toEqual({ ...two, action: 'DELETED', credential: null });
  });

  test('hears of what happens as soon as it has an answer', async () => {
    account = await gateway.newAccount();
    for (let round = 0; round < 20; round++) {
      const stream = await watch(account);
      const { body } = await account.call('POST', '/credentials');
      expect((await stream.next()).data.credentialChanged).toMatchObject({ action: 'CREATED', objectId: body.id });
      stream.close();
    }
  });

  test('leaves no listener behind when its reader goes', async () => {
    const { changes } = gateway.app;
    const { listen } = changes;
    let listening = 0;
    const heard = vi.spyOn(changes, 'listen').mockImplementation((listener) => {
      const stop = listen.call(changes, listener);
      listening++;
      return () => {
        stop();
        listening--;
      };
    });
    account = await gateway.newAccount();
    const streams = await Promise.all(Array.from({ length: 5 }, () => watch(account)));
    await eventually(() => expect(listening).toBeGreaterThanOrEqual(5));
    for (const stream of streams) stream.close();
    await eventually(() => expect(listening).toBe(0));
    heard.mockRestore();
  });

  test('hears only of its own account', async () => {
    account = await gateway.newAccount();
    const stream = await watch(account);
    const other = await gateway.newAccount();
    await other.call('POST', '/credentials');
    const { body } = await account.call('POST', '/credentials');
    expect((await stream.next()).data.credentialChanged.objectId).toBe(body.id);
  });

  test('does not hear of what failed', async () => {
    account = await gateway.newAccount();
    const stream = await watch(account);
    await account.call('POST', '/credentials', { acl: ['nonsense'] });
    const { body } = await account.call('POST', '/credentials');
    expect((await stream.next()).data.credentialChanged.objectId).toBe(body.id);
  });

  test('ends when the key that opened it is deleted', async () => {
    account = await gateway.newAccount();
    const { body } = await account.call('POST', '/api_keys', {});
    const stream = await watch({ ...account, key: body.token });
    const other = await watch(account);
    await account.call('DELETE', `/api_keys/${body.id}`);
    expect(await endOf(stream)).toBe('UNAUTHENTICATED ERR_GATEWAY_203');
    // Others of the account go on.
    await account.call('POST', '/credentials');
    expect((await other.next()).data.credentialChanged.action).toBe('CREATED');
  });

  test('does not say that it is complete when it ends because its caller has lost its rights', async () => {
    account = await gateway.newAccount();
    for (const method of ['POST', 'GET'] as const) {
      const { body } = await account.call('POST', '/api_keys', {});
      const stream = await openRawStream(gateway.api, body.token, CHANGES, { method });
      await account.call('DELETE', `/api_keys/${body.id}`);
      const whole = await stream.whole();
      expect(whole).toMatch(/^(:\n\n)+event: next\ndata: \{"errors":[^\n]+\}\n\n(:\n\n)*$/);
      expect(whole).toContain('ERR_GATEWAY_203');
      expect(whole).not.toContain('"http"');
    }
  });

  test('nor when its caller has other rights than before', async () => {
    account = await gateway.newAccount();
    const { body } = await account.call('POST', '/api_keys', {});
    const stream = await openRawStream(gateway.api, body.token, CHANGES);
    await account.call('PATCH', `/api_keys/${body.id}`, { description: 'another' });
    expect(await stream.whole()).toMatch(/ERR_GATEWAY_90304[^\n]+\}\n\n(:\n\n)*$/);
  });

  test('says that it is complete when there is nothing more to come', async () => {
    account = await gateway.newAccount();
    const { body } = await account.call('POST', '/event_destinations', { target: { datadog: { api_key: 'secret' } } });
    const query = 'subscription ($id: ID!) { eventDeliveryChanged(destinationId: $id) { state } }';
    const streams = await Promise.all(
      (['POST', 'GET'] as const).map((method) =>
        openRawStream(gateway.api, account.key, query, { method, variables: { id: body.id } }),
      ),
    );
    for (const stream of streams) await stream.until('event: next');
    await account.call('DELETE', `/event_destinations/${body.id}`);
    for (const stream of streams) expect(await stream.whole()).toMatch(/\}\n\n(:\n\n)*event: complete\ndata:\n\n$/);
  });

  test('ends when the owner of its key is deactivated', async () => {
    account = await gateway.newAccount();
    const user = await account.addOwner();
    const stream = await watch(user);
    await account.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id: user.ownerId });
    expect(await endOf(stream)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
  });

  test('hears of an endpoint and a session when a tunnel comes and goes', async () => {
    account = await gateway.newAccount();
    const endpoints = await watch(
      account,
      'subscription { endpointChanged { action objectId endpoint { publicUrl } } }',
    );
    const sessions = await watch(
      account,
      'subscription { tunnelSessionChanged { action objectId tunnelSession { agentVersion } } }',
    );
    const sessionId = await openSession(gateway, await newCredential(account));
    expect((await sessions.next()).data.tunnelSessionChanged).toEqual({
      action: 'CREATED',
      objectId: sessionId,
      tunnelSession: { agentVersion: '1.0.0' },
    });
    const request = nameRequest(sessionId, 'subscribed.tunnel.localhost');
    const { endpointId } = bound(await gateway.registrar.bind(request));
    expect((await endpoints.next()).data.endpointChanged).toEqual({
      action: 'CREATED',
      objectId: endpointId,
      endpoint: { publicUrl: request.publicUrl },
    });
    await gateway.registrar.sessionClosed(sessionId, 0);
    expect((await endpoints.next()).data.endpointChanged).toEqual({
      action: 'DELETED',
      objectId: endpointId,
      endpoint: null,
    });
    expect((await sessions.next()).data.tunnelSessionChanged.action).toBe('DELETED');
  });
});

test('a subscription that is too large is refused like any other operation', async () => {
  account = await gateway.newAccount();
  const aliases = Array.from({ length: 51 }, (_, index) => `a${index}: id`).join(' ');
  await expect(
    subscribe(gateway.api, account.key, `subscription { credentialChanged { ${aliases} } }`).then(async (stream) => {
      const { errors } = await stream.next();
      stream.close();
      throw new Error(errors[0].message);
    }),
  ).rejects.toThrow(/aliases|no event stream/);
});

describe.runIf(onServer)('with a second gateway on the same database', () => {
  let second: TestGateway;
  beforeAll(async () => {
    second = await startTestGateway({}, { place: gateway.place });
    await eventually(async () => {
      const listening = await gateway.app.prisma.$queryRaw<object[]>`
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gateway listener' AND query <> '' AND state = 'idle'`;
      expect(listening).toHaveLength(2);
    });
  });
  afterAll(() => second?.close());

  test('a subscription there hears of what happens here', async () => {
    account = await gateway.newAccount();
    const stream = await watch(account, CHANGES, second);
    const { body } = await account.call('POST', '/credentials', { description: 'far' });
    expect(await stream.next()).toEqual(event('CREATED', body.id, { description: 'far' }));
    await account.call('DELETE', `/credentials/${body.id}`);
    expect(await stream.next()).toEqual(event('DELETED', body.id, null));
  });

  test('a subscription there ends when its key is deleted here', async () => {
    account = await gateway.newAccount();
    const { body } = await account.call('POST', '/api_keys', {});
    const stream = await watch({ ...account, key: body.token }, CHANGES, second);
    await account.call('DELETE', `/api_keys/${body.id}`);
    expect(await endOf(stream)).toBe('UNAUTHENTICATED ERR_GATEWAY_203');
  });
});

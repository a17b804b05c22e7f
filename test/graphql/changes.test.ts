// Watching everything of an account in one stream.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { changeFeed, type GatheredChange } from '../../src/api/resources/overview/change-feed.ts';
import { type Change, Changes } from '../../src/store/changes/changes.ts';
import { newId } from '../../src/store/ids.ts';
import { fill, oneOfEach } from '../accounts/sample-resources.ts';
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
import { endOf, type Subscription, subscribe } from '../support/gateway/sse.ts';

const ALL = 'subscription ($kinds: [String!]) { changes(kinds: $kinds) { changes { kind action objectId } } }';

let gateway: TestGateway;
let account: Account;
const open: Subscription[] = [];
beforeAll(async () => {
  gateway = await sharedGateway();
});
afterEach(() => {
  for (const stream of open.splice(0)) stream.close();
});

/** Subscribes, and sees that it listens. */
async function watch({ key }: Pick<Owner, 'key'>, kinds?: string[], by = gateway): Promise<Subscription> {
  const stream = await subscribe(by.api, key, ALL, { kinds });
  open.push(stream);
  expect(await stream.next()).toEqual({ data: { changes: { changes: [] } } });
  return stream;
}

/** A change as it is told. */
type Told = Omit<GatheredChange, 'id'> & { objectId: string };

const next = async (stream: Subscription): Promise<Told[]> => (await stream.next()).data.changes.changes;

/** Reads until each of these ids was told of. */
async function until(stream: Subscription, ids: string[]): Promise<Told[]> {
  const told: Told[] = [];
  while (ids.some((id) => !told.some((change) => change.objectId === id))) told.push(...(await next(stream)));
  return told;
}

describe('the stream of all changes', () => {
  test('tells of every kind of object that has a list, and of live ones', async () => {
    account = await gateway.newAccount();
    const stream = await watch(account);
    const { eventDeadLetter: _, alertNotification: __, ...changing } = oneOfEach(await fill(gateway, account));
    const told = await until(stream, Object.values(changing));
    for (const [kind, id] of Object.entries(changing))
      expect(
        // Of a domain it is also told that its certificate is to be obtained.
        told.find((change) => change.objectId === id && change.kind !== 'domainCertificate'),
        kind,
      ).toMatchObject({ kind });
  });

  test('tells when a tunnel comes and goes', async () => {
    account = await gateway.newAccount();
    const credential = await newCredential(account);
    const stream = await watch(account, ['endpoint', 'tunnelSession']);
    const sessionId = await openSession(gateway, credential);
    const { endpointId } = bound(await gateway.registrar.bind(nameRequest(sessionId, 'feed.tunnel.localhost')));
    expect((await until(stream, [endpointId])).at(-1)).toEqual({
      kind: 'endpoint',
      action: 'CREATED',
      objectId: endpointId,
    });
    await gateway.registrar.sessionClosed(sessionId, 0);
    const gone = await until(stream, [endpointId, sessionId]);
    expect(gone.map(({ action }) => action)).toEqual(['DELETED', 'DELETED']);
  });

  test('tells of the kinds asked for only, and of its own account only', async () => {
    account = await gateway.newAccount();
    const stream = await watch(account, ['ipPolicy']);
    const other = await gateway.newAccount();
    await other.call('POST', '/ip_policies', {});
    await account.call('POST', '/credentials', {});
    const { body } = await account.call('POST', '/ip_policies', {});
    expect(await next(stream)).toEqual([{ kind: 'ipPolicy', action: 'CREATED', objectId: body.id }]);
  });

  test('tells of everything when the list of kinds is empty', async () => {
    account = await gateway.newAccount();
    const stream = await watch(account, []);
    const { body } = await account.call('POST', '/ip_policies', {});
    expect(await next(stream)).toEqual([{ kind: 'ipPolicy', action: 'CREATED', objectId: body.id }]);
  });

  test('refuses a kind that there is not, and says which there are', async () => {
    account = await gateway.newAccount();
    const stream = await subscribe(gateway.api, account.key, ALL, { kinds: ['credential', 'unicorn'] });
    open.push(stream);
    const { errors } = await stream.next();
    expect(errors[0]).toMatchObject({
      message: expect.stringMatching(
        /^kinds: there is no kind unicorn; known are: accountIpRestriction, agent, .*apiKey, appSession, appUser, botUser, .*eventDelivery, .*user, vault, weightedBackend\.$/,
      ),
      extensions: { code: 'BAD_USER_INPUT', errorCode: 'ERR_GATEWAY_90252', field: 'kinds' },
    });
  });

  test('ends when the key that opened it is deleted', async () => {
    account = await gateway.newAccount();
    const { body } = await account.call('POST', '/api_keys', {});
    const stream = await watch({ key: body.token });
    await account.call('DELETE', `/api_keys/${body.id}`);
    expect(await endOf(stream)).toBe('UNAUTHENTICATED ERR_GATEWAY_203');
  });

  test('ends when the owner of its key is deactivated', async () => {
    account = await gateway.newAccount();
    const user = await account.addOwner();
    const stream = await watch(user);
    await account.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id: user.ownerId });
    expect(await endOf(stream)).toMatch(/^(UNAUTHENTICATED|UNAVAILABLE) /);
  });
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

  test('the stream there tells of what happens here', async () => {
    account = await gateway.newAccount();
    const stream = await watch(account, [], second);
    const { body } = await account.call('POST', '/ip_policies', {});
    expect(await next(stream)).toEqual([{ kind: 'ipPolicy', action: 'CREATED', objectId: body.id }]);
  });
});

describe('gathering', () => {
  const accountId = newId('ac');
  const kinds = new Set(['credential', 'endpoint']);
  let changes: Changes;
  let ended: AbortController;
  let pauses: (() => void)[];
  let feed: AsyncGenerator<GatheredChange[]>;

  const publish = (...told: [kind: string, action: Change['action'], id: string][]) =>
    changes.publish(told.map(([kind, action, id]) => ({ kind, action, id, accountId })));
  /** Lets the time pass that changes are gathered for. */
  const pass = () => eventually(() => (pauses.shift() ?? expect.fail('nothing is gathered'))(), { interval: 1 });
  const told = async () => (await feed.next()).value;

  beforeAll(() => {
    changes = new Changes();
  });
  afterEach(async () => {
    ended.abort();
    await feed.return(undefined);
  });
  async function begin() {
    ended = new AbortController();
    pauses = [];
    feed = changeFeed(changes, accountId, kinds, ended.signal, {
      pause: () => new Promise<void>((go) => pauses.push(go)),
    });
    expect(await told()).toEqual([]);
  }

  test('what happened to an object last is all that is told of it, and told last', async () => {
    await begin();
    const coming = told();
    await publish(
      ['credential', 'CREATED', 'cr_1'],
      ['endpoint', 'CREATED', 'ep_1'],
      ['credential', 'UPDATED', 'cr_1'],
    );
    await publish(['credential', 'DELETED', 'cr_1']);
    await pass();
    expect(await coming).toEqual([
      { kind: 'endpoint', action: 'CREATED', id: 'ep_1' },
      { kind: 'credential', action: 'DELETED', id: 'cr_1' },
    ]);
  });

  test('what happens while nobody reads is told to whoever reads again', async () => {
    await begin();
    for (const id of ['ep_1', 'ep_2', 'ep_1']) await publish(['endpoint', 'UPDATED', id]);
    const coming = told();
    await pass();
    expect((await coming).map(({ id }: GatheredChange) => id)).toEqual(['ep_2', 'ep_1']);
  });

  test('more than a thousand objects are told of by their kinds', async () => {
    await begin();
    const coming = told();
    for (let n = 0; n < 1000; n++) await publish(['endpoint', 'CREATED', `ep_${n}`]);
    await publish(['credential', 'CREATED', 'cr_1'], ['endpoint', 'DELETED', 'ep_1']);
    await pass();
    expect(await coming).toEqual([
      { kind: 'endpoint', action: 'UPDATED', id: '' },
      { kind: 'credential', action: 'UPDATED', id: '' },
    ]);
    const after = told();
    await publish(['endpoint', 'DELETED', 'ep_2']);
    await pass();
    expect(await after).toEqual([{ kind: 'endpoint', action: 'DELETED', id: 'ep_2' }]);
  });

  test('a thousand are told one by one', async () => {
    await begin();
    const coming = told();
    for (let n = 0; n < 1000; n++) await publish(['endpoint', 'CREATED', `ep_${n}`]);
    await pass();
    expect(await coming).toHaveLength(1000);
  });

  test('where changes of other gateways may have been missed, every kind is to be asked for again', async () => {
    await begin();
    const coming = told();
    await publish(['endpoint', 'CREATED', 'ep_1']);
    changes.reportGap();
    await pass();
    expect(await coming).toEqual([...kinds].map((kind) => ({ kind, action: 'UPDATED', id: '' })));
  });

  test('it ends at once when it is to, also while it gathers', async () => {
    await begin();
    const coming = feed.next();
    await publish(['endpoint', 'CREATED', 'ep_1']);
    await eventually(() => expect(pauses).toHaveLength(1), { interval: 1 });
    ended.abort();
    await pass();
    expect(await coming).toEqual({ value: undefined, done: true });
  });
});

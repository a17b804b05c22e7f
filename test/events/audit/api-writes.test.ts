// Whatever is written through the API is told of, as it is shown, with its write and not without it.

import { beforeAll, expect, test } from 'vitest';
import { auditedResources } from '../../../src/api/collections/nodes.ts';
import { type AuditedResource, eventNameOf } from '../../../src/api/resource.ts';
import { eventTypes } from '../../../src/api/resources/events/catalog.ts';
import { routes } from '../../../src/api/schema.ts';
import { inSnakeCase } from '../../accounts/requests.ts';
import { creation, creationInput, fill, type Holder } from '../../accounts/sample-resources.ts';
import { type Account, countingGateway, sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { statementsOf } from '../../support/gateway/statements.ts';
import { auditTypes, type Told, waiting } from '../waiting.ts';

let gateway: TestGateway;
let account: Account;
let holder: Holder;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  holder = await fill(gateway, account);
});

const audited = auditedResources();
const resourcesByRest = audited.filter(({ kind }) => routes.some(({ field }) => field === creation(kind)));

/** Creates, changes and deletes one of a kind. @returns what GET showed after each, the last before the deletion. */
async function live(resource: AuditedResource): Promise<{ event_type: string; object: object }[]> {
  const { kind } = resource;
  const field = creation(kind);
  const { path = '' } = routes.find((row) => row.method === 'POST' && row.field === field) ?? {};
  const list = path.replace(':edge_id', holder.ids.httpsEdge ?? '');
  const made = await account.call('POST', list, inSnakeCase(creationInput(field, holder)));
  expect(made.status, made.text).toBe(201);
  const uri = `${list}/${made.body.id}`;
  const get = async () => {
    // Events show whole what the specification has less of.
    if (kind === 'endpoint')
      return (await account.call('GET', `/endpoints/${made.body.id}`, undefined, { dialect: 'extended' })).body;
    const rights = kind === 'botUser' ? (await account.call('GET', `${uri}/rights`)).body : {};
    return { ...(await account.call('GET', uri)).body, ...rights };
  };
  const created = await get();
  // The domain is reserved along with it.
  const along = kind === 'agentIngress' ? [await reservationOf(created.domain)] : [];
  const change = kind === 'botUser' ? { name: `renamed ${made.body.id}` } : { description: 'changed' };
  const changed = await account.call('PATCH', uri, change);
  expect(changed.status, `${uri}: ${changed.text}`).toBe(200);
  const updated = await get();
  expect(updated).not.toEqual(created);
  expect((await account.call('DELETE', uri)).status).toBe(204);
  const name = eventNameOf(resource, 'CREATED').replace(/_created.*/, '');
  return [
    ...along.map((object) => ({ event_type: 'domain_created.v0', object })),
    { event_type: `${name}_created.v0`, object: created },
    { event_type: `${name}_updated.v0`, object: updated },
    { event_type: `${name}_deleted.v0`, object: updated },
  ];
}

async function reservationOf(domain: string): Promise<object> {
  const { body } = await account.call('GET', '/reserved_domains?limit=100');
  return body.reserved_domains.find((row: { domain: string }) => row.domain === domain);
}

const shown = ({ event_type, object }: Told) => ({ event_type, object });

test('the catalogue has the events of every kind', () => {
  const named = audited.flatMap((resource) =>
    (['CREATED', 'UPDATED', 'DELETED'] as const)
      .filter((action) => !resource.audit.actions || resource.audit.actions.some((own) => own.toUpperCase() === action))
      .map((action) => eventNameOf(resource, action)),
  );
  expect(named.filter((name) => !eventTypes().some((type) => type.name === name))).toEqual([]);
  expect(auditTypes.filter((name) => /_(created|updated|deleted)\.v0$/.test(name)).sort()).toEqual(named.sort());
});

test('creating, changing and deleting any kind of object writes an event with the object as GET shows it', async () => {
  const { events } = await waiting(gateway, account);
  const expected: object[] = [];
  for (const resource of resourcesByRest) expected.push(...(await live(resource)));
  const told = await events();
  expect(told.filter(({ event_type }) => !event_type.startsWith('endpoint_')).map(shown)).toEqual(expected);
  for (const { event_id, event_timestamp, account_id, principal } of told.filter(({ principal }) => principal)) {
    expect(event_id).toMatch(/^ev_[0-9A-Za-z]{27}$/);
    expect(Math.abs(Date.parse(event_timestamp) - Date.now())).toBeLessThan(60_000);
    expect(account_id).toBe(account.accountId);
    const subject = `${account.ownerId}@localhost`;
    const [key] = await gateway.app.prisma.apiKey.findMany({
      where: { ownerId: account.ownerId },
      orderBy: { id: 'asc' },
    });
    const credential = { id: key?.id, uri: `${gateway.api}/api_keys/${key?.id}` };
    expect(principal).toEqual({ id: account.ownerId, subject, source: 'API', credential });
  }
  expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(told.length);
});

test('events of users show them as GraphQL does, but that times have no milliseconds and words are those of REST', async () => {
  const { events } = await waiting(gateway, account);
  const { body } = await account.graphql(
    `mutation { createUser(input: { email: "new@example.com" }) { user {
      id email role active may_read_bodies: mayReadBodies created_at: createdAt } } }`,
  );
  const { created_at, role, ...members } = body.data.createUser.user;
  expect(role).toBe('MEMBER');
  const user = { ...members, role: 'member', created_at: created_at.replace(/\.\d{3}Z$/, 'Z') };
  await account.graphql('mutation ($id: ID!) { deactivateUser(id: $id) { user { id } } }', { id: user.id });
  expect((await events()).map(shown)).toEqual([
    { event_type: 'user_created.v0', object: user },
    { event_type: 'user_updated.v0', object: { ...user, active: false } },
  ]);
});

test('events of objects that are deleted with an edge or a policy come before its own', async () => {
  const { batches } = await waiting(gateway, account);
  const edge = (await account.call('POST', '/edges/https', {})).body;
  const shownRoutes: object[] = [];
  for (const match of ['/a', '/b']) {
    const { body } = await account.call('POST', `/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match });
    shownRoutes.push(body);
  }
  const before = (await account.call('GET', `/edges/https/${edge.id}`)).body;
  await account.call('DELETE', `/edges/https/${edge.id}`);
  const policy = (await account.call('POST', '/ip_policies', {})).body;
  const rules: object[] = [];
  for (const cidr of ['192.0.2.0/24', '2001:db8::/32']) {
    const rule = { ip_policy_id: policy.id, cidr, action: 'deny', description: 'ours' };
    rules.push((await account.call('POST', '/ip_policy_rules', rule)).body);
  }
  await account.call('DELETE', `/ip_policies/${policy.id}`);
  const deletions = (await batches()).filter(([event]) => event?.event_type.endsWith('deleted.v0'));
  const asEvents = (name: string, objects: object[]) => objects.map((object) => ({ event_type: `${name}.v0`, object }));
  expect(deletions.map((batch) => batch.map(shown))).toEqual([
    [...asEvents('https_edge_route_deleted', shownRoutes), ...asEvents('https_edge_deleted', [before])],
    [...asEvents('ip_policy_rule_deleted', rules), ...asEvents('ip_policy_deleted', [policy])],
  ]);
});

test('modules are changes of what has them, and sources of their subscription', async () => {
  const { events } = await waiting(gateway, account, ['https_edge_route_updated.v0', 'event_subscription_updated.v0']);
  const { ids } = holder;
  const route = `/edges/https/${ids.httpsEdge}/routes/${ids.httpsEdgeRoute}`;
  const now = async () => (await account.call('GET', route)).body;
  await account.call('PUT', `${route}/compression`, { enabled: true });
  const withModule = await now();
  await account.call('DELETE', `${route}/compression`);
  await account.call('POST', `/event_subscriptions/${ids.eventSubscription}/sources`, { type: 'user_created.v0' });
  const subscription = (await account.call('GET', `/event_subscriptions/${ids.eventSubscription}`)).body;
  await account.call('PATCH', route, {});
  expect((await events()).map(({ object }) => object)).toEqual([withModule, await now(), subscription, await now()]);
});

test('a failed write has no event, and an idempotent repetition has only one', async () => {
  const { events } = await waiting(gateway, account);
  const { ids } = holder;
  const key = { headers: { 'idempotency-key': 'told-once' } };
  const first = await account.call('POST', '/api_keys', { description: 'once' }, key);
  expect((await account.call('POST', '/api_keys', { description: 'once' }, key)).body).toEqual(first.body);
  const refused = [
    await account.call('DELETE', `/event_destinations/${ids.eventDestination}`),
    await account.call('DELETE', `/ip_policies/${ids.ipPolicy}_`),
    await account.call('POST', '/edges/https', { hostports: [holder.hostport] }),
    await account.call(
      'POST',
      '/edges/https',
      { hostports: [holder.hostport] },
      { headers: { 'idempotency-key': 'no' } },
    ),
    await account.call('PATCH', '/credentials/cr_000000000000000000000000000', {}),
  ];
  expect(refused.filter(({ status }) => status < 400)).toEqual([]);
  expect((await events()).map(shown)).toEqual([
    { event_type: 'api_key_created.v0', object: { ...first.body, token: null } },
  ]);
});

test('events go only to subscriptions of the same type and account that still exist', async () => {
  const other = await gateway.newAccount();
  const [domains, foreign, over] = [
    await waiting(gateway, account, ['domain_created.v0']),
    await waiting(gateway, other),
    await waiting(gateway, account, ['api_key_created.v0']),
  ];
  const [{ subscriptionId } = { subscriptionId: '' }] = await gateway.app.prisma.subscriptionDestination.findMany({
    where: { destinationId: over.destinationId },
  });
  await account.call('DELETE', `/event_subscriptions/${subscriptionId}`);
  await account.call('POST', '/api_keys', {});
  for (const { events } of [domains, foreign, over]) expect(await events()).toEqual([]);
});

test('several destinations get the same event, one each, however many subscriptions name them', async () => {
  const [one, two] = [await waiting(gateway, account), await waiting(gateway, account)];
  const again = { sources: [{ type: 'api_key_created.v0' }], destination_ids: [one.destinationId, two.destinationId] };
  await account.call('POST', '/event_subscriptions', again);
  await account.call('POST', '/api_keys', {});
  const [first, second] = [await one.events('api_key_created.v0'), await two.events('api_key_created.v0')];
  expect(first).toHaveLength(1);
  expect(second).toEqual(first);
});

// BEGIN travels with the first statement: see `PipelinedClient`.
test('a write takes at most four round trips: the row as it was, its own, one for all that tells of it, and COMMIT', async () => {
  const { call } = await (await countingGateway()).newAccount();
  const costOf = async (method: string, path: string, input?: object) => {
    const statements = await statementsOf(() => call(method, path, input));
    const words = statements.flatMap((text) => (/api_key/.test(text) ? [] : (/\w+/.exec(text)?.[0] ?? [])));
    return words.slice(0, words.indexOf('COMMIT') + 1); // What follows the change comes then.
  };
  const last = ['WITH', 'COMMIT'];
  const uri = `/ip_policies/${(await call('POST', '/ip_policies', {})).body.id}`;
  expect(await costOf('POST', '/ip_policies', {})).toEqual(['INSERT', ...last]);
  expect(await costOf('PATCH', uri, { description: 'x' })).toEqual(['SELECT', 'UPDATE', ...last]);
  expect(await costOf('PATCH', uri, { description: 'x' }), 'nothing changes').toEqual(['SELECT', 'UPDATE', ...last]);
  expect(await costOf('DELETE', uri), 'with its rules').toEqual(['SELECT', 'SELECT', 'DELETE', ...last]);
  expect(await costOf('POST', '/credentials', {})).toEqual(['INSERT', ...last]);
  const credential = `/credentials/${(await call('POST', '/credentials', {})).body.id}`;
  expect(await costOf('PATCH', credential, { description: 'x' })).toEqual(['SELECT', 'UPDATE', ...last]);
  expect(await costOf('DELETE', credential)).toEqual(['SELECT', 'DELETE', ...last]);
});

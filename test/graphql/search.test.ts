// Finding anything of an account by a piece of it.

import { beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../src/store/ids.ts';
import { fill, type Holder, oneOfEach } from '../accounts/sample-resources.ts';
import { leaveTo, openSession } from '../support/agents/live.ts';
import { type Account, countingGateway, type Owner, type TestGateway } from '../support/gateway/gateway.ts';
import { statementsOf } from '../support/gateway/statements.ts';
import { shortened } from '../support/shortened.ts';

interface Hit {
  kind: string;
  objectId: string;
  title: string;
  detail: string;
}

let gateway: TestGateway;
let account: Account;
let holder: Holder;
const offline = newId('oep');
beforeAll(async () => {
  gateway = await countingGateway();
  account = await gateway.newAccount();
  holder = await fill(gateway, account);
  await gateway.app.prisma.offlineEndpoint.create({
    data: {
      ...{ id: offline, accountId: account.accountId, address: 'http:gone.example.org', proto: 'http' },
      ...{ publicUrl: 'http://gone.example.org', hostport: 'gone.example.org:80', forwardsTo: 'http://localhost:81' },
      ...{ onlineAt: new Date(), reason: 'The agent said good-bye' },
    },
  });
}, 90_000);

async function ask(text: string, first?: number, by: Owner = account): Promise<Hit[]> {
  const query =
    'query ($text: String!, $first: Int) { search(text: $text, first: $first) { kind objectId title detail } }';
  const { body } = await by.graphql(query, { text, ...(first === undefined ? {} : { first }) });
  expect(body.errors).toBeUndefined();
  return body.data.search;
}

const kindsOf = (hits: Hit[]) => [...new Set(hits.map(({ kind }) => kind))];
/** What is found by address, name, description or the like; the rest belongs to something that is. */
const notSearched = ['tunnel', 'eventDeadLetter', 'alertNotification'];

test('everything is found by its id, which comes before what only mentions it', async () => {
  const all = Object.entries(oneOfEach(holder)).filter(([kind]) => !notSearched.includes(kind));
  await account.call('POST', '/credentials', { metadata: `as of ${all.map(([, id]) => id)}` });
  for (const [kind, id] of all) {
    const hits = await ask(id);
    expect(hits[0], kind).toMatchObject({
      kind,
      objectId: id,
      title: expect.stringMatching(/./),
      detail: expect.any(String),
    });
    expect(kindsOf(hits)).toContain('credential');
  }
  for (const [, id] of shortened(all, 3)) {
    expect((await ask(id, 1))[0]?.objectId).toBe(id);
    expect((await ask(id.slice(3, -2))).map((hit) => hit.objectId)).toContain(id);
  }
  expect(await ask(offline)).toEqual([
    { kind: 'offlineEndpoint', objectId: offline, title: 'http://gone.example.org', detail: 'The agent said good-bye' },
  ]);
});

test('words are found in any order, in different texts of an object, and all of them have to be there', async () => {
  const notes = { description: 'Boiler of house 7', metadata: '{"site":"north"}' };
  const { body } = await account.call('POST', '/credentials', notes);
  for (const text of ['boiler north', 'north  BOILER', '7 house site boiler'])
    expect((await ask(text)).map(({ objectId }) => objectId)).toContain(body.id);
  expect(await ask('boiler south')).toEqual([]);
});

describe('what is searched', () => {
  const edgeName = () => holder.hostport.replace(/:443$/, '');

  test.each<[string, () => string, string, string?]>([
    ['the address of an endpoint', () => `${holder.zone}`, 'endpoint', 'https://'],
    ['where its tunnel leads', () => 'localhost:3000', 'endpoint'],
    ['the address of one that is offline', () => 'GONE.example', 'offlineEndpoint', 'http://gone.example.org'],
    ['the address of an agent', () => '127.0.0.1', 'tunnelSession', '127.0.0.1'],
    ['the version of an agent', () => 'agent/1.0.0', 'tunnelSession'],
    ['a rule of a credential', () => 'bind:*.example', 'credential'],
    ['the e-mail address of a user', () => `${account.ownerId}@LOCALHOST`, 'user', '@localhost'],
    ['a domain', () => `*.${holder.zone}`, 'reservedDomain', '*.'],
    ['a name of a certificate', () => '*.example.com', 'tlsCertificate', '*.example.com'],
    ['the name of an authority', () => 'test devices', 'certificateAuthority', 'Test Devices CA'],
    ['a name of an edge', edgeName, 'httpsEdge', ':443'],
    ['the match of a route', () => '/w0', 'httpsEdgeRoute', '/w0'],
    ['the labels of a backend', () => 'app=w0', 'tunnelGroupBackend', 'app=w0'],
    ['the addresses of an IP policy rule', () => '2001:DB8:', 'ipPolicyRule', '2001:db8:'],
    ['the types of an event subscription', () => 'bot_user_deleted', 'eventSubscription'],
  ])('%s', async (_, text, kind, title = '') => {
    const hit = (await ask(text(), 50)).find((one) => one.kind === kind);
    expect(hit?.title).toContain(title);
  });

  test.each([
    ['apiKey', '/api_keys'],
    ['botUser', '/bot_users'],
    ['credential', '/credentials'],
    ['reservedDomain', '/reserved_domains'],
    ['ipPolicy', '/ip_policies'],
    ['accountIpRestriction', '/ip_restrictions'],
    ['tunnelGroupBackend', '/backends/tunnel_group'],
    ['weightedBackend', '/backends/weighted'],
    ['failoverBackend', '/backends/failover'],
    ['httpResponseBackend', '/backends/http_response'],
    ['staticBackend', '/backends/static'],
    ['eventDestination', '/event_destinations'],
    ['eventSubscription', '/event_subscriptions'],
    ['httpsEdge', '/edges/https'],
    ['tlsEdge', '/edges/tls'],
    ['tcpEdge', '/edges/tcp'],
    ['reservedAddress', '/reserved_addrs'],
    ['kubernetesOperator', '/kubernetes_operators'],
    ['agentIngress', '/agent_ingresses'],
    ['certificateAuthority', '/certificate_authorities'],
    ['tlsCertificate', '/tls_certificates'],
  ])('description and metadata of a %s', async (kind, path) => {
    const id = holder.ids[kind] ?? '';
    const text = `Otter of ${kind}`;
    const texts = kind === 'botUser' ? { name: text } : { description: text, metadata: '{"team":"Heron"}' };
    const answer = await account.call('PATCH', `${path}/${id}`, texts);
    expect(answer.status, answer.text).toBe(200);
    expect((await ask(`otter OF ${kind}`)).map((hit) => hit.objectId)).toEqual([id]);
    if (kind !== 'botUser') expect((await ask('"heron"', 50)).map((hit) => hit.objectId)).toContain(id);
  });

  test('letters of other scripts, whatever their case', async () => {
    const { body } = await account.call('POST', '/credentials', { description: 'Fünf Brücken' });
    for (const text of ['FÜNF BRÜ', 'fünf brü', 'Brücken'])
      expect((await ask(text)).map(({ objectId }) => objectId)).toEqual([body.id]);
  });

  test('no secret, nor where event destinations lead', async () => {
    const { body } = await account.call('POST', '/api_keys', { description: 'secret' });
    expect(await ask(body.token.slice(-12))).toEqual([]);
    expect(await ask('datadoghq')).toEqual([]);
  });
});

test('the wildcards of SQL and of regular expressions stand for themselves', async () => {
  const { body } = await account.call('POST', '/credentials', {
    description: String.raw`50 %_ \ .*+?^$\{}()|[]-/ off`,
  });
  expect((await ask('0 %_')).map(({ objectId }) => objectId)).toEqual([body.id]);
  expect((await ask(String.raw`_ \ .*+?^$\{}()|[]-/ o`)).map(({ objectId }) => objectId)).toEqual([body.id]);
  for (const text of ['50%off', '50.*off', '[5]0', 'x|50']) expect(await ask(text)).toEqual([]);
  expect(await ask(`'; DROP TABLE credential; --`)).toEqual([]);
});

test('no text is too strange to be found again', async () => {
  const printable = Array.from({ length: 95 }, (_, code) => String.fromCharCode(code + 32)).join('');
  const description = `***=(?i)x ${printable} ıİßſ漢`;
  const { body } = await account.call('POST', '/credentials', { description });
  const letters = new Set(description.replaceAll(' ', ''));
  const plain = [...letters].filter((letter) => /[a-z0-9]/i.test(letter));
  const special = [...letters].filter((letter) => !plain.includes(letter));
  /** What means something in SQL, in regular expressions or in JSON, and what is not ASCII. */
  const meaningful = special.filter((letter) => /[%_\\*.?(['"$|]|[^ -~]/.test(letter));
  const others = [...special, ...plain].filter((letter) => !meaningful.includes(letter));
  const single = shortened([...meaningful, ...others], meaningful.length);
  for (const text of ['***=(?i)x', printable.trim(), 'ıİßſ漢', ...single]) {
    const hits = await ask(text, 50);
    if (text.length > 1) expect(hits.map(({ objectId }) => objectId)).toEqual([body.id]);
    else expect(hits.length, text).toBeGreaterThan(0);
  }
});

test('kinds come in their order, the newest of each first, and no more than asked for', async () => {
  const mark = `Order ${newId('op')}`;
  const made: string[] = [];
  for (const path of ['/event_subscriptions', '/credentials', '/api_keys', '/credentials']) {
    const more = path === '/event_subscriptions' ? { sources: [], destination_ids: [] } : {};
    const { body, text } = await account.call('POST', path, { description: mark, ...more });
    expect(body.id, text).toBeDefined();
    made.push(body.id);
  }
  const [subscription, older, key, newer] = made;
  expect((await ask(mark)).map(({ objectId }) => objectId)).toEqual([newer, older, key, subscription]);
  expect((await ask(mark, 2)).map(({ objectId }) => objectId)).toEqual([newer, older]);
});

test('twenty when not said otherwise', async () => {
  const { accountId, ownerId } = account;
  const data = Array.from({ length: 60 }, () => newId('cr')).map((id) => ({ id, accountId, ownerId, digest: id }));
  await gateway.app.prisma.credential.createMany({ data: data.map((row) => ({ ...row, description: 'crowd' })) });
  expect(await ask('crowd')).toHaveLength(20);
  expect(await ask('crowd', 50)).toHaveLength(50);
});

test('only what is live is an endpoint or a session', async () => {
  const { accountId } = account;
  const sessionId = await openSession(gateway, { accountId, credentialId: holder.ids.credential ?? '' });
  expect(await ask(sessionId)).toHaveLength(1);
  await leaveTo(gateway, sessionId, 0);
  expect(await ask(sessionId)).toEqual([]);
});

test('nothing of another account, and nothing to a stranger', async () => {
  const stranger = await gateway.newAccount();
  const own = (await ask('_', 50, stranger)).map(({ objectId }) => objectId);
  expect(own).toEqual([expect.stringMatching(/^ak_/), stranger.ownerId]);
  // Each id has the first letter.
  for (const text of ['_', holder.zone, 'e', offline, ...shortened(Object.values(holder.ids), 3)])
    for (const hit of await ask(text, 50, stranger)) expect(own).toContain(hit.objectId);
  const { body } = await account.graphql('{ search(text: "a") { objectId } }', {}, { key: null });
  expect(body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

test('members find what they can list', async () => {
  const member = await account.addOwner();
  const seen = async (by: Owner) => kindsOf(await ask('a', 50, by)).sort();
  expect(await seen(member)).toEqual(await seen(account));
  expect((await ask(account.ownerId, 1, member))[0]?.kind).toBe('user');
});

test('it is one statement', async () => {
  await ask('a');
  expect(await statementsOf(() => ask('a'))).toEqual([expect.stringContaining('UNION ALL')]);
});

test.each([
  ['', 20, 'text must be 1 to 200 characters; spaces at its ends do not count.'],
  [' \t ', 20, 'text must be 1 to 200 characters; spaces at its ends do not count.'],
  ['a\0b', 20, 'text must be 1 to 200 characters; spaces at its ends do not count.'],
  ['x'.repeat(201), 20, 'text must be 1 to 200 characters; spaces at its ends do not count.'],
  ['a', 0, 'first must be from 1 to 50.'],
  ['a', 51, 'first must be from 1 to 50.'],
])('%j, %i is refused', async (text, first, message) => {
  const { body } = await account.graphql(
    'query ($text: String!, $first: Int) { search(text: $text, first: $first) { objectId } }',
    { text, first },
  );
  expect(body.errors[0]).toMatchObject({ message, extensions: { code: 'BAD_USER_INPUT' } });
});

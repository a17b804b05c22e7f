// What sources select, filter and sample of the traffic of a gateway, and from when on. All visits are made before: events
// are collected for a second, which is spent once.

import { Agent } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { trafficObjects } from '../../../src/events/traffic/gateway-objects.ts';
import type { Account } from '../../support/gateway/gateway.ts';
import { shortened } from '../../support/shortened.ts';
import { visit } from '../../support/visit.ts';
import { done } from '../edges/support.ts';
import { type Ear, metricOf, REQUESTS, type Received, startTrafficLab, type TrafficLab } from './lab.ts';

let lab: TrafficLab;
let stranger: Account;
let name: string;

const FILTERS = {
  status: "ev.http.response.status_code >= 500 && ev.http.request.method == 'GET'",
  header: "ev.http.request.headers['X-KIND'] == ['special'] && 'x-kind' in ev.http.request.headers",
  secret: "ev.http.request.headers['cookie'][0] == '***' && ev.http.response.headers['Set-Cookie'] == ['***']",
  fails: "ev.http.request.headers['x-nobody-sends'][0] == 'x'",
  absent: '!has(ev.tls.version) && !has(ev.ip_policy.decision) && has(ev.http.response.status_code)',
  present: 'has(ev.tls.version)',
  times:
    "ev.http.response.last_byte_ts - ev.http.request.first_byte_ts < duration('1h') && ev.conn.start_ts > timestamp('2020-01-01T00:00:00Z')",
  slow: "ev.http.response.last_byte_ts - ev.http.request.first_byte_ts > duration('1h')",
  query: "ev.http.request.url.query.contains('find=me') && ev.http.request.url.raw.startsWith('http://')",
};
const filtered = new Map<string, Ear>();
/** Its source selects one thing after the other. */
let selecting: Ear;
let all: Ear;
let united: Ear;
let unitedWithAll: Ear;
let elsewhere: Ear;
let changed: Ear;
let ended: Ear;
let byGraphql: Ear;
let [half, tenth]: Ear[] = [];
let failedBefore: number;
const HALF = 'ev.http.request.url.path == "/sampled"';

const source = (more: object = {}) => [{ type: REQUESTS, ...more }];
const pathsOf = ({ events }: Ear) => events.map(({ object }) => object.http.request.url.path);

beforeAll(async () => {
  lab = await startTrafficLab();
  stranger = await lab.gateway.newAccount();
  name = await lab.tunnel();
  const paths = (...list: string[]) => `ev.http.request.url.path in ${JSON.stringify(list)}`;
  failedBefore = await metricOf(lab.gateway, FAILED);
  all = await lab.hear(source({ filter: '!ev.http.request.url.path.startsWith("/sampled")' }));
  for (const [key, filter] of Object.entries(FILTERS)) filtered.set(key, await lab.hear(source({ filter })));
  const some = { filter: paths('/united', '/one') };
  united = await lab.hear(source({ ...some, fields: ['http.request.method', 'conn.client_ip'] }));
  await subscribe(united, source({ filter: paths('/united', '/two'), fields: ['http.request.url'] }));
  unitedWithAll = await lab.hear(source({ ...some, fields: ['http.request.method'] }));
  await subscribe(unitedWithAll, source({ filter: paths('/united') }));
  elsewhere = await lab.hear(source(), stranger);
  half = await lab.hear(source({ filter: HALF, sample_rate: 0.5, fields: ['http.request.url'] }));
  tenth = await lab.hear(source({ filter: HALF, sample_rate: 0.1, fields: ['http.request.url'] }));
  byGraphql = await heardByGraphql();
  await Promise.all([visits(), changes(), selects(), sampled()]);
  await lab.settled([all, united, unitedWithAll, changed, ended, byGraphql, ...filtered.values(), selecting]);
  await lab.settled([elsewhere], stranger);
}, 60_000);
afterAll(() => lab?.close());

const FAILED = 'traffic_events_total{outcome="filter_failed"}';

const subscribe = ({ destinationId }: Ear, sources: object[]) =>
  done(lab.account, 'POST', '/event_subscriptions', { sources, destination_ids: [destinationId] });

/** Each field, and each branch. */
function selections(): string[] {
  const fields = trafficObjects[REQUESTS].fields.map((field) => field.name);
  const branches = fields.flatMap((field) =>
    field
      .split('.')
      .slice(0, -1)
      .map((_, index, names) => names.slice(0, index + 1).join('.')),
  );
  const all = [...new Set([...fields, ...branches])];
  // Of each depth there are some, and of the branches.
  return all.filter((_, index) => index % Math.min(...shortened([6, 1])) === 0);
}

/** Nothing is heard by its first source, which GraphQL replaces. */
async function heardByGraphql(): Promise<Ear> {
  const { account } = lab;
  const ear = await lab.hear([{ type: 'domain_created.v0' }]);
  const [, , subscriptionId] = ear.at.split('/');
  const input = { type: REQUESTS, fields: ['http.request.url.path'], filter: 'ev.http.request.url.path == "/chosen"' };
  const mutation = `mutation ($subscriptionId: ID!, $input: EventSourceInput!) {
    createEventSource(subscriptionId: $subscriptionId, input: $input) { eventSource { type } }
  }`;
  const { body } = await account.graphql(mutation, { subscriptionId, input });
  expect(body.data).toEqual({ createEventSource: { eventSource: { type: REQUESTS } } });
  return ear;
}

const get = (path: string, options: Parameters<typeof visit>[2] = {}) =>
  visit(`http://${name}${path}`, lab.gateway.http, options);

async function visits(): Promise<void> {
  await get('/status/500');
  await get('/status/503', { method: 'POST' });
  await get('/special', { headers: { 'x-Kind': 'special' } });
  await get('/special/not', { headers: { 'x-kind': 'other' } });
  await get('/secret', { headers: { Cookie: 'a=b' } });
  await get('/found?a=1&find=me');
  for (const path of ['/united', '/one', '/two', '/chosen']) await get(path);
}

/** Each change counts for the next request. */
async function changes(): Promise<void> {
  const { account } = lab;
  changed = await lab.hear(source({ filter: 'ev.http.request.url.path == "/changed/1"' }));
  ended = await lab.hear(source({ filter: 'ev.http.request.url.path.startsWith("/changed/")' }));
  await get('/changed/1');
  await done(account, 'PATCH', `${changed.at}/sources/${REQUESTS}`, {
    filter: 'ev.http.request.url.path == "/changed/3"',
    fields: ['http.request.url.path'],
  });
  await get('/changed/1');
  await get('/changed/3');
  const { status } = await account.call('DELETE', ended.at);
  expect(status).toBe(204);
  await get('/changed/3');
  await account.graphql(
    `mutation { deleteEventSource(subscriptionId: "${changed.at.split('/')[2]}", type: "${REQUESTS}") { deletedType } }`,
  );
  await get('/changed/3');
}

async function selects(): Promise<void> {
  selecting = await lab.hear(source({ filter: 'ev.http.request.url.path == "/select"' }));
  for (const field of selections()) {
    await done(lab.account, 'PATCH', `${selecting.at}/sources/${REQUESTS}`, { fields: [field] });
    await get(`/select?${field}`);
  }
}

const SAMPLES = Math.max(...shortened([200, 400]));

async function sampled(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  await Promise.all(Array.from({ length: SAMPLES }, (_, n) => get(`/sampled?${n}`, { agent })));
  agent.destroy();
}

/** What an object has at a path, with what is above it. What does not apply is null as a whole. */
function only(path: string, whole: Record<string, unknown> | null): object | null {
  const [name = '', ...rest] = path.split('.');
  if (whole === null) return null;
  const inner = whole[name] as Record<string, unknown> | null;
  return { [name]: rest.length > 0 ? only(rest.join('.'), inner) : inner };
}

describe('fields', () => {
  test('one by one and by branches: what the whole event has there, and nothing else', async () => {
    const fields = selections();
    expect(selecting.events).toHaveLength(fields.length);
    for (const [index, field] of fields.entries()) {
      const { event_id: id, object } = selecting.events[index] as Received;
      const whole = all.events.find(({ event_id }) => event_id === id)?.object;
      expect(whole.http.request.url.query).toBe(field);
      expect(object).toEqual(only(field, whole));
    }
  });

  test('of a source that GraphQL made', () => {
    expect(byGraphql.events.map(({ object }) => object)).toEqual([{ http: { request: { url: { path: '/chosen' } } } }]);
  });
});

describe('filters', () => {
  const PLAIN = [
    '/status/500',
    '/status/503',
    '/special',
    '/special/not',
    '/secret',
    '/found',
    '/united',
    '/one',
    '/two',
    '/chosen',
  ];
  test.each<[keyof typeof FILTERS, string[]]>([
    ['status', ['/status/500']],
    ['header', ['/special']],
    ['secret', ['/secret']],
    ['fails', []],
    ['present', []],
    ['slow', []],
    ['query', ['/found']],
  ])('by %s', (key, paths) => {
    expect(pathsOf(filtered.get(key) as Ear)).toEqual(paths);
  });

  test.each(['absent', 'times'] as const)('that let all pass: %s', (key) => {
    expect(pathsOf(filtered.get(key) as Ear)).toEqual(expect.arrayContaining(PLAIN));
    expect(filtered.get(key)?.events.length).toBe(all.events.length + SAMPLES);
  });

  test('that cannot be evaluated are counted, for each request', async () => {
    const failed = (await metricOf(lab.gateway, FAILED)) - failedBefore;
    // Who sent no cookie could not be asked for its value, either.
    expect(failed).toBe(2 * all.events.length + 2 * SAMPLES - 1);
  });
});

test('two subscriptions into one destination: one event each, with what any of them selected', () => {
  const url = { scheme: 'http', host: name, query: '' };
  const chosen = { conn: { client_ip: '127.0.0.1' } };
  const urlOf = (path: string) => ({ ...url, path, raw: `http://${name}${path}` });
  expect(united.events.map(({ object }) => object)).toEqual([
    { ...chosen, http: { request: { method: 'GET', url: urlOf('/united') } } },
    { ...chosen, http: { request: { method: 'GET' } } },
    { http: { request: { url: urlOf('/two') } } },
  ]);
  const [first, second] = unitedWithAll.events.map(({ object }) => object);
  const whole = all.events.find(({ object }) => object.http.request.url.path === '/united');
  expect(first).toEqual(whole?.object);
  expect(second).toEqual({ http: { request: { method: 'GET' } } });
  expect(unitedWithAll.events).toHaveLength(2);
  expect(united.events[0]?.event_id).toBe(whole?.event_id);
});

test('a change of a source, its end, and that of a subscription count for the next request', () => {
  expect(changed.events.map(({ object }) => object.http.request.url)).toEqual([
    expect.objectContaining({ path: '/changed/1', scheme: 'http' }),
    { path: '/changed/3' },
    { path: '/changed/3' },
  ]);
  expect(pathsOf(ended)).toEqual(['/changed/1', '/changed/1', '/changed/3']);
});

test('another account hears nothing', () => {
  expect(elsewhere.events).toEqual([]);
});

test('a share of the requests: as large as it was asked for, the smaller one within the larger one', () => {
  const [inHalf, inTenth] = [half, tenth].map((ear) =>
    (ear?.events ?? []).map(({ object }) => object.http.request.url.query),
  );
  for (const [found, rate] of [[inHalf, 0.5] as const, [inTenth, 0.1] as const]) {
    // Five standard deviations: less than once in a million.
    const deviation = Math.sqrt(SAMPLES * rate * (1 - rate));
    expect(Math.abs((found?.length ?? 0) - SAMPLES * rate)).toBeLessThan(5 * deviation);
  }
  expect(inHalf).toEqual(expect.arrayContaining(inTenth as string[]));
  expect(new Set(inHalf).size).toBe(inHalf?.length);
});

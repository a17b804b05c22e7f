// A database that the version wrote in which each module had a column of its own: the next start carries the modules over,
// the API shows them as before, and visitors meet them, those with sealed secrets among them.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { splitPolicy } from '../../src/policy/secrets/policy-secrets.ts';
import { migrate } from '../../src/store/database/migrations.ts';
import { openDatabase } from '../../src/store/database/open-database.ts';
import { newId } from '../../src/store/ids.ts';
import { deriveKeys } from '../../src/store/keys/keys.ts';
import { visitOf } from '../live/policy/lab.ts';
import { as, rules, shownRules } from '../live/policy/secrets-lab.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { copyCluster, migrations, newPlace, type Place } from '../support/gateway/place.ts';
import { root } from '../support/root.ts';

const LAST_OLD = '20261122113021_browser_session_page_secret';
const KEY = Buffer.alloc(32, 7);
const HOST = 'carried-over.tunnel.localhost';
const [edge, tlsEdge] = [newId('edghts'), newId('edgtls')];
const [every, guarded, ruled, bare] = ['/every', '/guarded', '/ruled', '/bare'].map((match) => ({
  id: newId('edghtsrt'),
  match,
})) as [Route, Route, Route, Route];
const ipPolicy = newId('ipp');

interface Route {
  id: string;
  match: string;
}

const plain = {
  circuit_breaker: {
    enabled: true,
    trippedDuration: 11,
    rollingWindow: 12,
    numBuckets: 13,
    volumeThreshold: 14,
    errorThresholdPercentage: 0.25,
  },
  compression: { enabled: false },
  request_headers: { enabled: true, add: { 'x-a': '1' }, remove: ['x-b'] },
  response_headers: { enabled: true, add: {}, remove: ['server'] },
  websocket_tcp_converter: { enabled: false },
  user_agent_filter: { enabled: true, allow: [], deny: ['bot'] },
};

let place: Place;
let gateway: TestGateway;
beforeAll(async () => {
  place = await newPlace({ empty: true });
  await copyCluster('empty', place.dataDir);
  await writeAsBefore();
  gateway = await startTestGateway({ SERVER_KEY: KEY.toString('base64') }, { place });
});
afterAll(async () => {
  await gateway?.close();
  await place?.remove();
});

/** Rows as the version before wrote them, every module among them. */
async function writeAsBefore(): Promise<void> {
  const { pool, close } = await openDatabase(readConfig(place.env, root), { onFatal: () => {} });
  await migrate(pool, migrations, { upTo: LAST_OLD });
  const keys = deriveKeys(KEY);
  const insert = async (table: string, row: Record<string, unknown>) => {
    const names = Object.keys(row);
    const values = names.map((_, index) => `$${index + 1}`);
    await pool.query(`INSERT INTO "${table}" (${names.join()}) VALUES (${values.join()})`, Object.values(row));
  };
  const accountId = newId('ac');
  const admin = newId('usr');
  await insert('setting', { name: 'first_start', value: new Date().toISOString() });
  await insert('account', { id: accountId });
  await insert('owner', { id: admin, account_id: accountId, kind: 'USER', subject: 'admin@localhost', role: 'ADMIN' });
  const key = { id: newId('ak'), digest: keys.digest('chosen-by-the-tests-0001') };
  await insert('api_key', { ...key, account_id: accountId, owner_id: admin });
  const sealed = (route: Route, member: string, secret: string) =>
    keys.seal(secret, `route:${accountId}:${route.id}:${member}`);

  const domain = newId('rd');
  await insert('reserved_domain', { id: domain, account_id: accountId, domain: HOST });
  await insert('ip_policy', { id: ipPolicy, account_id: accountId });
  const rule = { id: newId('ipr'), account_id: accountId, policy_id: ipPolicy, cidr: '127.0.0.0/8', action: 'ALLOW' };
  await insert('ip_policy_rule', rule);
  await insert('edge', { id: edge, account_id: accountId, kind: 'HTTPS' });
  await insert('edge_hostport', { hostport: `${HOST}:443`, edge_id: edge, domain_id: domain, position: 0 });
  const termination = { enabled: true, terminateAt: 'edge', minVersion: '1.3' };
  const ofTls = {
    id: tlsEdge,
    account_id: accountId,
    kind: 'TLS',
    ip_restriction: false,
    tls_termination: termination,
  };
  await insert('edge', ofTls);
  await insert('edge_ip_policy', { edge_id: tlsEdge, policy_id: ipPolicy, position: 0 });

  const common = ({ id, match }: Route) => ({
    id,
    account_id: accountId,
    edge_id: edge,
    match_type: 'PATH_PREFIX',
    match,
  });
  await insert('route', { ...common(every), ...plain, ip_restriction: true });
  await insert('route_ip_policy', { route_id: every.id, policy_id: ipPolicy, position: 0 });
  const credentials = [{ username: 'office', password: sealed(guarded, 'basicAuth.office', 'password of the office') }];
  const secret = sealed(guarded, 'webhookVerification.secret', 'secret of github');
  await insert('route', {
    ...common(guarded),
    basic_auth: { enabled: true, realm: 'lab', credentials },
    webhook_verification: { enabled: false, provider: 'github', secret },
  });
  const { value, secrets } = splitPolicy(rules('password of a rule'), 'https');
  const kept = JSON.stringify(secrets.map(({ path, ...rest }) => rest));
  const digest = createHash('sha256').update(value).digest('base64url');
  const policy = { enabled: true, masked: value, sealed: sealed(ruled, `trafficPolicy:${digest}`, kept) };
  await insert('route', { ...common(ruled), traffic_policy: policy });
  await insert('route', common(bare));
  await close();
}

const read = async (route: Route) => (await gateway.call('GET', `/edges/https/${edge}/routes/${route.id}`)).body;
const status = async (target: string, options?: Parameters<typeof visitOf>[2]) =>
  (await visitOf(gateway, `https://${HOST}${target}`, options))?.status;

test('modules without secrets are shown as they were, and those that were never set are not set', async () => {
  const shown = await read(every);
  expect(shown.circuit_breaker).toEqual({
    enabled: true,
    tripped_duration: 11,
    rolling_window: 12,
    num_buckets: 13,
    volume_threshold: 14,
    error_threshold_percentage: 0.25,
  });
  const { circuit_breaker: _, ...others } = plain;
  expect(shown).toMatchObject(others);
  expect(shown.ip_restriction).toMatchObject({ enabled: true, ip_policies: [{ id: ipPolicy }] });
  const none = { basic_auth: null, webhook_verification: null, traffic_policy: null, policy: null };
  expect(shown).toMatchObject(none);
  expect(await read(bare)).toMatchObject({ ...none, circuit_breaker: null, compression: null, ip_restriction: null });
  const tls = (await gateway.call('GET', `/edges/tls/${tlsEdge}`)).body;
  expect(tls).toMatchObject({
    ip_restriction: { enabled: false, ip_policies: [{ id: ipPolicy }] },
    tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.3' },
    mutual_tls: null,
  });
});

test('sealed secrets open: visitors are let in by them, and by nothing else', async () => {
  expect((await read(guarded)).basic_auth).toEqual({
    enabled: true,
    realm: 'lab',
    credentials: [{ username: 'office' }],
  });
  // There is no backend: those who are let in get a 502.
  expect(await status('/guarded', as('office', 'password of the office'))).toBe(502);
  expect(await status('/guarded', as('office', 'password of a rule'))).toBe(401);
  expect((await read(ruled)).traffic_policy).toEqual({ enabled: true, value: shownRules() });
  expect(await status('/ruled', as('office', 'password of a rule'))).toBe(502);
  expect(await status('/ruled', as('office', 'another password'))).toBe(401);
});

test('a secret that is left out of a replacement is the one from before', async () => {
  const path = `/edges/https/${edge}/routes/${guarded.id}`;
  const again = await gateway.call('PUT', `${path}/basic_auth`, { credentials: [{ username: 'office' }] });
  expect(again.status, again.text).toBe(200);
  expect(await status('/guarded', as('office', 'password of the office'))).toBe(502);
  const webhook = await gateway.call('PUT', `${path}/webhook_verification`, { provider: 'github', enabled: false });
  expect(webhook.status, webhook.text).toBe(200);
});

test('modules act on traffic as before', async () => {
  expect(await status('/every', { headers: { 'user-agent': 'a bot' } })).toBe(403);
  expect(await status('/every', { headers: { 'user-agent': 'curl' } })).toBe(502);
});

test('two modules that are written at the same moment both stay', async () => {
  const path = `/edges/https/${edge}/routes/${bare.id}`;
  const answers = await Promise.all([
    gateway.call('PUT', `${path}/compression`, { enabled: true }),
    gateway.call('PUT', `${path}/request_headers`, { add: { 'x-a': '1' } }),
    gateway.call('PUT', `${path}/circuit_breaker`, {}),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200]);
  const set = { compression: { enabled: true }, request_headers: { add: { 'x-a': '1' } }, circuit_breaker: {} };
  expect(await read(bare)).toMatchObject(set);
});

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { webhookVerificationModule } from '../../src/edge/modules/webhook-verification.ts';
import { beginKeyChange, openAccount } from '../../src/store/certificates/acme-accounts.ts';
import { openModule, sealModule } from '../../src/store/edges/module-secrets.ts';
import { openTarget } from '../../src/store/events/target.ts';
import { openPrivateKey } from '../../src/store/keys/private-keys.ts';
import { openSecretValue } from '../../src/store/secrets/secret-values.ts';
import { beginAppSession } from '../../src/store/visitors/app-session-rows.ts';
import { openContent, sealContent } from '../../src/visitor-sign-in/session-content.ts';
import { issue, sent } from '../contract/rows/certificates.ts';
import { parts } from '../contract/rows/targets.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { newPlace, type Place } from '../support/gateway/place.ts';

const OLD = Buffer.alloc(32, 1).toString('base64');
const NEW = Buffer.alloc(32, 2).toString('base64');

let place: Place;
let running: TestGateway[];
beforeEach(async () => {
  place = await newPlace();
  running = [];
});
afterEach(async () => {
  for (const gateway of running) await gateway.close();
  await place.remove();
});

async function start(env: Record<string, string>): Promise<TestGateway> {
  for (const gateway of running) await gateway.close();
  const gateway = await startTestGateway(env, { place });
  running.push(gateway);
  return gateway;
}

const use = (gateway: TestGateway, key?: string) => gateway.call('GET', '/credentials', undefined, key ? { key } : {});
const post = (gateway: TestGateway) =>
  gateway.call('POST', '/credentials', {}, { headers: { 'idempotency-key': 'k' } });

/** What is sealed of a visitor who has signed in. */
const visitor = {
  tokens: { accessToken: 'a', refreshToken: 'r', idToken: 'i', accessExpiresAt: 1 },
  identity: { subject: 'ann', name: 'Ann', email: '' },
};

/** Has secrets of every sort sealed. @returns what to look at once the server key is another. */
async function seal({ call, accountId, app }: TestGateway): Promise<(app: TestGateway['app']) => Promise<void>> {
  const create = async (path: string, body: object) => (await call('POST', path, body)).body.id as string;
  const pair = sent(await issue({ names: ['app.example.com'] }));
  const certificate = await create('/tls_certificates', pair);
  const destination = await create('/event_destinations', { target: { datadog: parts.datadog } });
  const edge = await create('/edges/https', {});
  const route = await create(`/edges/https/${edge}/routes`, { match_type: 'path_prefix', match: '/' });
  const plain = await create(`/edges/https/${edge}/routes`, { match_type: 'path_prefix', match: '/plain' });
  const webhookVerification = { enabled: true, provider: 'github', secret: 'secret of a webhook' };
  const owner = { table: 'route', id: route, accountId } as const;
  const sealed = sealModule(app.keys, owner, webhookVerificationModule, webhookVerification);
  const data = { modules: { webhookVerification: sealed } };
  await app.prisma.route.update({ where: { id: route }, data });
  const authority = 'https://ca.example/directory';
  const accountKeys = { privateKey: 'key of an ACME account', nextPrivateKey: 'its next key' };
  await openAccount(app.prisma, app.keys, authority, async () => accountKeys.privateKey);
  await beginKeyChange(app.prisma, app.keys, authority, async () => accountKeys.nextPrivateKey);

  const vaultId = await create('/vaults', { name: 'devices' });
  const secret = await create('/vault_secrets', { vault_id: vaultId, name: 'password', value: 'open sesame' });
  const session = await beginAppSession(
    { ...app, now: Date.now },
    {
      ...{ accountId, site: 'app.example.com', terms: 'those of a policy', endpointId: 'ep_1', ip: '', userAgent: '' },
      publicUrl: 'https://app.example.com',
      user: { issuer: 'https://id.example.com', subject: 'ann', name: 'Ann', email: '' },
      seal: (id) => sealContent(app.keys, id, visitor),
      ...{ idleMs: 3_600_000, maxMs: 3_600_000 },
    },
  );

  return async ({ prisma, keys }) => {
    const ofVault = await prisma.secret.findUniqueOrThrow({ where: { id: secret } });
    expect(openSecretValue(keys, ofVault)).toBe('open sesame');
    const ofSession = await prisma.appSession.findUniqueOrThrow({ where: { id: session.id } });
    expect(openContent(keys, ofSession)).toEqual(visitor);
    const unknown = async () => expect.fail('the account is there');
    expect(await openAccount(prisma, keys, authority, unknown)).toMatchObject(accountKeys);
    const ofCertificate = await prisma.tlsCertificate.findUniqueOrThrow({ where: { id: certificate } });
    expect(openPrivateKey(keys, ofCertificate)).toBe(pair.private_key_pem);
    const ofDestination = await prisma.eventDestination.findUniqueOrThrow({ where: { id: destination } });
    expect(openTarget(keys, ofDestination).datadog?.apiKey).toBe(parts.datadog.api_key);
    const ofRoute = await prisma.route.findUniqueOrThrow({ where: { id: route } });
    const stored = ofRoute.modules as { webhookVerification: typeof webhookVerification };
    expect(Object.keys(stored)).toEqual(['webhookVerification']);
    expect(openModule(keys, owner, webhookVerificationModule, stored.webhookVerification)).toEqual(webhookVerification);
    const other = await prisma.route.findUniqueOrThrow({ where: { id: plain } });
    expect(other.modules).toEqual({});
  };
}

test('while the key is changed, what was made under the old one keeps working; then the new one is enough', async () => {
  const before = await start({ SERVER_KEY: OLD });
  const expectOpen = await seal(before);
  const { body: used } = await before.call('POST', '/api_keys', {});
  const answer = await post(before);

  const during = await start({ SERVER_KEY: NEW, SERVER_KEY_PREVIOUS: OLD });
  expect((await use(during)).status).toBe(200);
  expect((await use(during, used.token)).status).toBe(200);
  // An old authtoken is still known for one, and an old answer can be opened.
  expect((await use(during, answer.body.token)).body.error_code).toBe('ERR_GATEWAY_206');
  expect(JSON.parse((await post(during)).text).token).toBe(answer.body.token);
  const { body: fresh } = await during.call('POST', '/api_keys', {});

  const after = await start({ SERVER_KEY: NEW });
  for (const key of [undefined, used.token, fresh.token]) expect((await use(after, key)).status).toBe(200);
  await expectOpen(after.app);
});

test('a rotation that does not begin at the database’s key is refused', async () => {
  await start({ SERVER_KEY: OLD });
  await expect(start({ SERVER_KEY: NEW, SERVER_KEY_PREVIOUS: NEW })).rejects.toThrow(/another server key/);
});

test('without SERVER_KEY one is made on the first start, for its owner alone to read; the database has no secret in clear', async () => {
  const gateway = await start({});
  const file = join(place.dataDir, 'server.key');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const key = (await readFile(file, 'utf8')).trim();
  expect(Buffer.from(key, 'base64')).toHaveLength(32);

  const { body } = await post(gateway);
  const tables = ['api_key', 'credential', 'idempotent_answer', 'setting', 'owner'];
  const rows = await Promise.all(tables.map((table) => gateway.app.prisma.$queryRawUnsafe(`SELECT * FROM ${table}`)));
  const stored = JSON.stringify(rows);
  for (const secret of [gateway.key, body.token, body.token.split('_')[1], gateway.first?.authtoken ?? '-', key])
    expect(stored).not.toContain(secret);
});

// Canaries: texts that were sent, or made, and must not turn up in anything the gateway writes. What a process prints and logs at its
// start, test/ops/idle-process.test.ts reads.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Call, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';

const KEY = 'canary-key-0123456789abcdef';

/** Sends secrets to every place where they belong, and to some where they do not. @returns them. */
async function plant(call: Call): Promise<string[]> {
  const canaries = [
    'canary-bearer-0123456789',
    'canary-basic',
    'canary-cookie',
    'canary-body',
    'canary-query',
    'canary-broken',
    'canary-of-a-vault',
  ];
  const { body: vault } = await call('POST', '/vaults', { name: 'canaries' });
  const vaulted = { vault_id: vault.id, name: 'canary', value: 'canary-of-a-vault' };
  const { body: secret } = await call('POST', '/vault_secrets', vaulted);
  await call('PATCH', secret.uri, { value: 'canary-of-a-vault' });
  await call('POST', '/vault_secrets', vaulted);
  await call('POST', '/vault_secrets', { ...vaulted, name: 'long', value: 'canary-of-a-vault'.repeat(1000) });
  const { body: credential } = await call('POST', '/credentials', {
    description: 'canary-body',
    metadata: 'canary-body',
  });
  const { body: apiKey } = await call('POST', '/api_keys', {}, { headers: { 'idempotency-key': 'secret' } });
  await call('POST', '/api_keys', {}, { headers: { 'idempotency-key': 'secret' } });
  await call('GET', '/credentials', undefined, { key: apiKey.token });
  await call('GET', '/credentials', undefined, { key: credential.token });
  await call('GET', '/credentials', undefined, { key: 'canary-bearer-0123456789' });
  await call('GET', '/credentials', undefined, { key: null, headers: { authorization: 'Basic canary-basic' } });
  await call('GET', '/credentials', undefined, { headers: { cookie: 'session=canary-cookie' } });
  await call('GET', '/credentials?api_key=canary-query');
  await call('POST', '/credentials', '{"metadata":"canary-broken"');
  await call('POST', '/credentials', '{"canary-broken":"canary-broken"}');
  await call('POST', '/credentials', { acl: ['canary-broken'] });
  await call('POST', '/credentials', { metadata: 'canary-body'.repeat(1000) });
  await call('POST', '/graphql', {
    query: 'mutation { createCredential(input: { metadata: "canary-body" }) { token } }',
  });
  await call('POST', '/graphql', { query: '{ credential(id: "canary-query") { id } }' });
  await call('POST', '/graphql', { query: '{ broken("canary-broken" }' });
  await call('POST', '/graphql', { query: 'query ($x: Int) { __typename }', variables: { x: 'canary-broken' } });
  return [...canaries, apiKey.token, credential.token, apiKey.token.split('_')[1], credential.token.split('_')[1]];
}

function expectNone(canaries: string[], written: string[]): void {
  expect(written.length).toBeGreaterThan(10);
  for (const canary of canaries) {
    expect(canary).toMatch(/\S{8,}/);
    expect(written.filter((line) => line.includes(canary))).toEqual([]);
  }
}

describe('nothing secret is handed to the log, not even to be redacted,', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ INITIAL_API_KEY: KEY });
  });
  afterAll(() => gateway.close());

  test('of what is asked', async () => {
    const canaries = await plant((method, path, body, options) =>
      path === '/graphql'
        ? gateway.graphql((body as { query: string }).query)
        : gateway.call(method, path, body, options),
    );
    expectNone([...canaries, KEY, gateway.first?.authtoken ?? ''], gateway.logs);
  });

  test('when something goes wrong inside', async () => {
    const { prisma } = gateway.app;
    await prisma.$executeRaw`ALTER TABLE credential ADD CHECK (description <> 'canary-body') NOT VALID`;
    const refused = await gateway.call('POST', '/credentials', {
      description: 'canary-body',
      metadata: 'canary-metadata',
    });
    await prisma.$executeRaw`ALTER TABLE credential RENAME COLUMN metadata TO elsewhere`;
    const broken = await gateway.call('POST', '/credentials', {
      description: 'canary-text',
      metadata: 'canary-metadata',
    });
    for (const { status, headers } of [refused, broken]) {
      expect(status).toBe(500);
      await gateway.logged(({ operation_id }) => operation_id === headers['service-operation-id']);
    }
    const digests = await prisma.$queryRaw<{ digest: string }[]>`SELECT digest FROM api_key`;
    const canaries = ['canary-body', 'canary-text', 'canary-metadata', KEY, ...digests.map(({ digest }) => digest)];
    expectNone(canaries, gateway.logs);
  });
});

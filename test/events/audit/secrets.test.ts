// Secrets are in no event and in no entry of the audit trail, whoever hears of what.

import { expect, test } from 'vitest';
import { issue } from '../../contract/rows/certificates.ts';
import { sharedGateway } from '../../support/gateway/gateway.ts';
import { waiting } from '../waiting.ts';

const CANARY = 'canary-0123456789';
const arn = 'arn:aws:kinesis:eu-west-1:123456789012:stream/events';

test('no event and no entry of the audit trail contains a secret', async () => {
  const gateway = await sharedGateway();
  const account = await gateway.newAccount();
  const { call } = account;
  const { batches } = await waiting(gateway, account);
  const post = async (path: string, body: object) => {
    const { status, text, body: made } = await call('POST', path, body);
    expect(status, text).toBe(201);
    return made;
  };
  const { certificate_pem, private_key_pem } = await issue({ names: ['canary.example.com'] });
  const tls = await post('/tls_certificates', { certificate_pem, private_key_pem });
  const tokens = [(await post('/api_keys', {})).token, (await post('/credentials', {})).token];
  const creds = { aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_secret_access_key: CANARY.padEnd(40, '0') };
  const datadog = { api_key: CANARY, ddtags: '', service: '', ddsite: 'datadoghq.com' };
  const destination = await post('/event_destinations', { format: 'json', target: { datadog } });
  const kinesis = { auth: { creds }, stream_arn: arn };
  await call('PATCH', `/event_destinations/${destination.id}`, { target: { kinesis } });
  await call('DELETE', `/event_destinations/${destination.id}`);
  const edge = await post('/edges/https', {});
  const route = await post(`/edges/https/${edge.id}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    webhook_verification: { provider: 'github', secret: CANARY },
    oidc: { issuer: 'https://id.example.com', client_id: 'shop', client_secret: CANARY },
    oauth: { provider: { github: { client_id: 'app', client_secret: CANARY } } },
    basic_auth: { credentials: [{ username: 'visitor', password: CANARY }] },
  });
  await call('PATCH', route.uri, { description: 'changed' });
  const vault = await post('/vaults', { name: 'of the canary' });
  const stored = await post('/vault_secrets', { vault_id: vault.id, name: 'canary', value: CANARY });
  await call('PATCH', stored.uri, { value: `${CANARY}-2` });
  await call('DELETE', stored.uri);
  await call('DELETE', edge.uri);
  await call('DELETE', tls.uri);

  const entries = await gateway.app.prisma.auditEntry.findMany({ where: { accountId: account.accountId } });
  expect(JSON.stringify(entries).length).toBeGreaterThan(5000);
  const told = JSON.stringify([await batches(), entries]);
  expect(told.length).toBeGreaterThan(10_000);
  const [, secret = ''] = private_key_pem.split('\n');
  for (const canary of [CANARY, secret, ...tokens, ...tokens.map((token) => token.split('_')[1])]) {
    expect(canary.length).toBeGreaterThan(15);
    expect(told).not.toContain(canary);
  }
});

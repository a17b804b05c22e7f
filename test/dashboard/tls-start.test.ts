// A start with a certificate for the API: what it prints, and when it refuses.

import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { newPlace } from '../support/gateway/place.ts';
import { runRefused, startProcess } from '../support/gateway/process.ts';
import { newIssuer } from '../support/issuer.ts';
import { samples } from '../support/load/metrics.ts';
import { receive } from './built.ts';

const STARTS_A_PROCESS = { timeout: 60_000 };

let directory: string;
let ca: string;
let env: { API_TLS_CERT: string; API_TLS_KEY: string };
beforeAll(async () => {
  directory = await mkdtemp(join(inject('run'), 'tls-'));
  const issuer = await newIssuer('CN=an authority');
  ca = issuer.cert;
  const { cert, key } = await issuer.issue({ dns: ['localhost'], purpose: 'server' });
  env = { API_TLS_CERT: join(directory, 'api.crt'), API_TLS_KEY: join(directory, 'api.key') };
  await writeFile(env.API_TLS_CERT, cert);
  await writeFile(env.API_TLS_KEY, key);
});
afterAll(() => rm(directory, { recursive: true }));

test(
  'every printed URL has https, and the API responds there; no log has the link to sign in',
  STARTS_A_PROCESS,
  async () => {
    const gateway = await startProcess({ ...env, LOG_LEVEL: 'trace' });
    try {
      const address = /^https:\/\/127\.0\.0\.1:\d+$/;
      expect(gateway.api).toMatch(address);
      const printed = gateway.stdout.join('\n').match(/https?:\/\/[^\s/]+(?=\/(credentials|graphql|dashboard))/g);
      expect(new Set(printed)).toEqual(new Set([gateway.api]));
      expect(printed).toHaveLength(3);
      const { status } = await receive(gateway.api, '/', { tls: { ca, servername: 'localhost' } });
      expect(status).toBe(200);
      const { value } = await samples(gateway.admin);
      const end = value('gateway_certificate_expiry_timestamp_seconds', { source: 'api' });
      expect(end * 1000).toBe(Date.parse(new X509Certificate(await readFile(env.API_TLS_CERT)).validTo));
    } finally {
      await gateway.kill('SIGTERM');
      await gateway.place.remove();
    }
  },
);

test(
  'a key that does not match the certificate is reported in one line, without a stack',
  STARTS_A_PROCESS,
  async () => {
    const place = await newPlace();
    const other = await (await newIssuer('CN=another')).issue();
    const keyFile = join(directory, 'other.key');
    await writeFile(keyFile, other.key);
    const { code, stdout, stderr } = await runRefused({ ...place.env, ...env, API_TLS_KEY: keyFile });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(`API_TLS_KEY: ${keyFile} is not the key of the certificate in ${env.API_TLS_CERT}`);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stderr).not.toContain('PRIVATE KEY');
    await place.remove();
  },
);

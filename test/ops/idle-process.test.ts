// A process that nobody uses, in a fresh place: what it prints and logs, what its metrics tell, and which code it has loaded.

import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePort } from '../../src/net/free-port.ts';
import { explain } from '../../src/process/explain.ts';
import { receive } from '../dashboard/built.ts';
import { startTestGateway } from '../support/gateway/gateway.ts';
import { type GatewayProcess, startProcess } from '../support/gateway/process.ts';
import { newIssuer } from '../support/issuer.ts';
import { type Samples, samples } from '../support/load/metrics.ts';
import { asked, rules, targets } from '../support/monitoring.ts';
import { root } from '../support/root.ts';

const KEY = 'canary-key-0123456789abcdef';
/** Labels that Prometheus itself gives to what it collects. */
const GIVEN = ['job', 'instance'];
/** Packages that only what is used or configured needs. Each of them takes milliseconds and megabytes. */
const UNUSED = [
  '@aws-sdk/',
  '@bufbuild/cel',
  '@bufbuild/protobuf',
  '@nats-io/',
  '@node-rs/argon2',
  '@redis/',
  '@smithy/',
  'bowser',
  'isbot',
  'jose',
  're2js',
  'tldts',
  'yaml',
];
/** Packages that build and develop. */
const DEVELOPMENT = ['@biomejs/', 'prisma', 'typescript', 'vite', 'vitest'];

let directory: string;
let env: { API_TLS_CERT: string; API_TLS_KEY: string };
let gateway: GatewayProcess;
/** The answer of the API to a client that trusts the authority of its certificate. */
let status: number;
let told: Samples;
let scripts: string[];
beforeAll(async () => {
  directory = await mkdtemp(join(inject('run'), 'idle-'));
  const issuer = await newIssuer('CN=an authority');
  const { cert, key } = await issuer.issue({ dns: ['localhost'], purpose: 'server' });
  env = { API_TLS_CERT: join(directory, 'api.crt'), API_TLS_KEY: join(directory, 'api.key') };
  await writeFile(env.API_TLS_CERT, cert);
  await writeFile(env.API_TLS_KEY, key);
  const file = join(directory, 'loaded-scripts');
  gateway = await startProcess({
    ...env,
    INITIAL_API_KEY: KEY,
    LOG_LEVEL: 'trace',
    DNS_PORT: String(await freePort('127.0.0.1')),
    NODE_OPTIONS: `--import=${join(root, 'test/support/loaded-scripts.mjs')}`,
    LOADED_SCRIPTS_FILE: file,
  });
  try {
    // Requests to the API are told by their status, of those there were.
    const answer = await receive(gateway.api, '/', { tls: { ca: issuer.cert, servername: 'localhost' } });
    status = answer.status;
    told = await samples(gateway.admin);
    expect(await gateway.kill('SIGTERM')).toBe(0);
  } finally {
    await gateway.kill();
    await gateway.place.remove();
  }
  scripts = (await readFile(file, 'utf8')).split('\n');
}, 60_000);
afterAll(() => rm(directory, { recursive: true }));

test('every printed URL has https, and the API responds there', () => {
  expect(gateway.api).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const printed = gateway.stdout.join('\n').match(/https?:\/\/[^\s/]+(?=\/(credentials|graphql|dashboard))/g);
  expect(new Set(printed)).toEqual(new Set([gateway.api]));
  expect(printed).toHaveLength(3);
  expect(status).toBe(200);
});

test('a key that does not match the certificate is reported in one line, without a stack', async () => {
  const other = await (await newIssuer('CN=another')).issue();
  const keyFile = join(directory, 'other.key');
  await writeFile(keyFile, other.key);
  const text = await startTestGateway({ ...env, API_TLS_KEY: keyFile }).then(() => 'it starts', explain);
  expect(text).toContain(`API_TLS_KEY: ${keyFile} is not the key of the certificate in ${env.API_TLS_CERT}`);
  expect(text).not.toMatch(/^\s+at /m);
  expect(text).not.toContain('PRIVATE KEY');
});

test('an API key of the operator’s choice is not printed, and no log has it, the authtoken or the link to sign in', () => {
  const { authtoken = '', stdout, stderr } = gateway;
  expect(stdout.slice(0, 2)).toEqual([`Authtoken: ${authtoken}`, expect.stringMatching(/^ready /)]);
  const [, link = ''] = /sign-in#(\S+)/.exec(stdout.join('\n')) ?? [];
  for (const secret of [KEY, authtoken, link]) {
    expect(secret).toMatch(/\S{8,}/);
    expect(stderr.filter((line) => line.includes(secret))).toEqual([]);
  }
  expect(stdout.filter((line) => line.includes(KEY))).toEqual([]);
  expect(stderr.length).toBeGreaterThan(0);
});

test('its metrics have the end of the certificate of the API', async () => {
  const end = told.value('gateway_certificate_expiry_timestamp_seconds', { source: 'api' });
  expect(end * 1000).toBe(Date.parse(new X509Certificate(await readFile(env.API_TLS_CERT)).validTo));
});

describe('its metrics tell', () => {
  const expressions = [
    ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
    ...targets.map(({ title, expr }) => [`panel ${title}`, expr] as const),
  ];
  test.each(expressions)('what is asked for by %s: %s', (_, expr) => {
    const wanted = asked(expr).filter(({ name }) => name !== 'up');
    if (!/\bup\b/.test(expr)) expect(wanted.length).toBeGreaterThan(0);
    for (const { name, labels } of wanted) {
      const series = told.series(name);
      expect(series.length, name).toBeGreaterThan(0);
      const known = [...GIVEN, ...Object.keys(series[0]?.labels ?? {})];
      expect(
        labels.filter((label) => !known.includes(label)),
        `labels of ${name}`,
      ).toEqual([]);
    }
  });
});

test('the manual’s table has no metric that there is not, and all that rules and panels ask for', async () => {
  const section =
    /## Monitoring\n([\s\S]*)/.exec(await readFile(join(root, 'src/manual/operating.md'), 'utf8'))?.[1] ?? '';
  const rows = [...section.matchAll(/^\| (`.*?`) \| /gm)].map(([, names = '']) => names);
  const named = rows.flatMap((names) => [...names.matchAll(/`(\w+)/g)].map(([, name = '']) => name));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !told.names.has(name))).toEqual([]);
  const own = [...rules, ...targets]
    .flatMap(({ expr }) => asked(expr).map(({ name }) => name.replace(/_(bucket|count|sum)$/, '')))
    .filter((name) => /^(gateway|tunnel|event|events|api)_/.test(name));
  expect([...new Set(own)].filter((name) => !named.includes(name))).toEqual([]);
});

test('it has not loaded the language of policies, the SDKs of clouds, or any other code that it does not use', async () => {
  const bundle = join(root, 'dist/bundle');
  const { files } = JSON.parse(await readFile(join(bundle, 'inputs.json'), 'utf8')) as {
    files: Record<string, string[]>;
  };
  const inputs = (url: string) => (url.includes('/dist/bundle/') ? (files[basename(url)] ?? []) : [url]);
  const all = scripts.flatMap(inputs);
  const loaded = (name: string) =>
    all.filter((url) => `/${url}`.includes(`/node_modules/${name.replace(/\/?$/, '/')}`));
  expect(loaded('graphql')).not.toEqual([]);
  for (const name of [...UNUSED, ...DEVELOPMENT]) expect(loaded(name)).toEqual([]);
});

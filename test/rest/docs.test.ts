// `/docs`, the REST reference: its page, what draws it, and its examples, which are run.

import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { DIALECTS } from '../../src/api/route.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { root } from '../support/root.ts';

const run = promisify(execFile);

interface Operation {
  tags: string[];
  'x-codeSamples': { lang: string; label: string; source: string }[];
}

let gateway: TestGateway;
let paths: Record<string, Record<string, Operation>>;
beforeAll(async () => {
  gateway = await startTestGateway({}, { docsRenderer: join(root, 'node_modules/rapidoc/dist/rapidoc-min.js') });
  paths = (await (await fetch(`${gateway.api}/docs/openapi.json`)).json()).paths;
});
afterAll(() => gateway.close());

test.each(['/docs', '/docs?dialect=extended'])('%s is a page that loads from this gateway only', async (path) => {
  const response = await fetch(gateway.api + path);
  expect(response.headers.get('content-type')).toMatch(/^text\/html\b/);
  const policy = response.headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  expect(policy).not.toMatch(/unsafe-eval|https?:|\*/);
  const loaded = [...(await response.text()).matchAll(/\b(?:src|href|spec-url)="([^"]+)"/g)].map(([, url]) => url);
  expect(loaded).toContain(`/docs/openapi.json?dialect=${path.includes('extended') ? 'extended' : 'documented'}`);
  for (const url of loaded) expect(url).toMatch(/^(\/[^/]|data:,$)/);
  for (const url of loaded.filter((one) => one?.startsWith('/docs')))
    expect((await fetch(gateway.api + url)).status, url).toBe(200);
});

test.each(['br', 'gzip'])('what draws it comes in %s below 1.5 MB, once', async (coding) => {
  const url = `${gateway.api}/docs/rapidoc.js`;
  const { headers } = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': coding } });
  expect(headers.get('content-encoding')).toBe(coding);
  expect(Number(headers.get('content-length'))).toBeLessThan(1_500_000);
  const known = { 'accept-encoding': coding, 'if-none-match': headers.get('etag') ?? '' };
  expect((await fetch(url, { headers: known })).status).toBe(304);
});

test('an unknown dialect is refused as /openapi.json refuses it', async () => {
  const response = await fetch(`${gateway.api}/docs?dialect=foreign`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error_code: 'ERR_GATEWAY_215' });
});

test('GET / names it, GraphiQL and the document in its header Link', async () => {
  const { headers } = await fetch(`${gateway.api}/`);
  for (const [, path] of (headers.get('link') ?? '').matchAll(/<([^>]+)>/g))
    expect((await fetch(gateway.api + path, { headers: { accept: 'text/html' } })).status, path).toBe(200);
  expect(headers.get('link')?.match(/<[^>]+>/g)).toEqual(['</docs>', '</openapi.json>', '</graphql>']);
});

test.each(DIALECTS)(
  'each operation of the %s dialect has an example in all five languages, and else it is /openapi.json',
  async (dialect) => {
    const at = async (path: string) => (await fetch(`${gateway.api}${path}?dialect=${dialect}`)).json();
    const shown = await at('/docs/openapi.json');
    for (const operation of Object.values<Record<string, Partial<Operation>>>(shown.paths).flatMap((methods) =>
      Object.values(methods),
    )) {
      expect(operation['x-codeSamples']?.map(({ label }) => label)).toEqual([
        'curl',
        'Go',
        'Python',
        'Ruby',
        'TypeScript',
      ]);
      delete operation['x-codeSamples'];
      delete operation.tags;
    }
    expect(shown).toEqual(await at('/openapi.json'));
  },
);

const EXTENSIONS: Record<string, [file: string, command: string, ...parameters: string[]]> = {
  curl: ['sample.sh', 'sh', '-e'],
  Go: ['sample.go', 'go', 'run'],
  Python: ['sample.py', 'python3'],
  Ruby: ['sample.rb', 'ruby'],
  TypeScript: ['sample.mjs', process.execPath],
};
const isThere = await Promise.all(
  Object.entries(EXTENSIONS).map(async ([label, [, command]]) => {
    const found = await run(command, [label === 'Go' ? 'version' : '--version']).catch(() => undefined);
    return [label, label === 'curl' || found !== undefined] as const;
  }),
);

describe.each(isThere)('the examples in %s', (label, runs) => {
  test.skipIf(!runs)('make, read, change, list and delete an object', { timeout: 120_000 }, async () => {
    const [file, command, ...parameters] = EXTENSIONS[label] ?? expect.unreachable();
    const place = await mkdtemp(join(inject('run'), 'samples-'));
    const example = async (method: string, path: string, id = '') => {
      const source = paths[path]?.[method]?.['x-codeSamples'].find((sample) => sample.label === label)?.source;
      await writeFile(join(place, file), source ?? '');
      const env = { PATH: process.env.PATH, HOME: place, API_KEY: gateway.key, ID: id };
      const { stdout } = await run(command, [...parameters, file], { cwd: place, env });
      return stdout.trim() && JSON.parse(stdout);
    };
    const made = await example('post', '/credentials');
    expect(made).toMatchObject({ id: expect.stringMatching(/^cr_/), description: 'made by the example' });
    expect(await example('get', '/credentials/{id}', made.id)).toMatchObject({ id: made.id });
    expect(await example('patch', '/credentials/{id}', made.id)).toMatchObject({ id: made.id });
    expect((await example('get', '/credentials')).credentials[0]).toMatchObject({ id: made.id });
    expect(await example('delete', '/credentials/{id}', made.id)).toBe('');
    expect(await example('get', '/')).toMatchObject({ uri: `${gateway.api}/` });
    await expect(example('get', '/credentials/{id}', made.id)).rejects.toThrow();
  });
});

test('examples have what an operation requires', async () => {
  const source = paths['/reserved_domains']?.post?.['x-codeSamples'][0]?.source;
  expect(source).toContain('"domain": "shop.example.com"');
});

// The output of the dashboard's build.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/root.ts';

const SOURCE = join(root, 'src/dashboard');
const FIRST_SCREEN_BYTES = 250_000;

/** Set by the commands that build it before, when something of it has changed. `npx vitest` alone makes one of its own. */
const isBuilt = process.env.GATEWAY_TEST_COMPILED === '1';

let place: string;
let files: string[];
beforeAll(async () => {
  if (isBuilt) place = join(root, 'dist/dashboard');
  else await build();
  files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => /[^/]\.\w+$/.test(name));
}, 60_000);
afterAll(() => (isBuilt ? undefined : rm(dirname(place), { recursive: true })));

async function build(): Promise<void> {
  place = join(await mkdtemp(join(tmpdir(), 'gateway-dashboard-')), 'built');
  // The environment of `npm run build`, not that of the tests.
  const env = { PATH: process.env.PATH };
  await promisify(execFile)(process.execPath, [join(SOURCE, 'build.js'), place], { cwd: root, env });
}

const text = (name: string) => readFileSync(join(place, name), 'utf8');
const scripts = () => files.filter((name) => name.endsWith('.js'));
const operations = () => JSON.parse(text('operations.json')) as Record<string, string>;

describe('the files for browsers', () => {
  test('have a content hash in their names, except the page', () => {
    const served = files.filter((name) => !/\.(br|gz)$/.test(name) && name !== 'operations.json');
    expect(served.filter((name) => !/^assets\/[\w.-]+-[\w-]{8}\.\w+$/.test(name))).toEqual(['index.html']);
  });

  test('contain nothing inline that the policy would block, and no source maps', () => {
    const page = text('index.html');
    expect(page.match(/<script\b[^>]*>/g)).toEqual([
      expect.stringMatching(/^<script type="module" crossorigin src="\/dashboard\/assets\/[\w.-]+\.js">$/),
    ]);
    expect(page).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
    expect(files.filter((name) => name.endsWith('.map'))).toEqual([]);
    for (const name of scripts()) expect(text(name)).not.toMatch(/sourceMappingURL|\beval\(|new Function\(/);
  });

  test('have compressed copies with the same content', () => {
    const texts = files.filter((name) => /\.(css|html|js|svg)$/.test(name));
    expect(texts.length).toBeGreaterThan(2);
    for (const name of texts) {
      const whole = readFileSync(join(place, name));
      expect(brotliDecompressSync(readFileSync(join(place, `${name}.br`))).equals(whole), name).toBe(true);
      expect(gunzipSync(readFileSync(join(place, `${name}.gz`))).equals(whole), name).toBe(true);
    }
  });

  test('have less than 250 kB of compressed scripts for any first screen', () => {
    const [, entry = ''] = /src="\/dashboard\/([^"]+)"/.exec(text('index.html')) ?? [];
    const begin = withImports(entry);
    const screens = scripts().map((name) => new Set([...begin, ...withImports(name)]));
    const sizes = screens.map((names) => sum([...names].map((name) => readFileSync(join(place, `${name}.gz`)).length)));
    expect(begin.size).toBeGreaterThan(0);
    expect(Math.max(...sizes)).toBeLessThan(FIRST_SCREEN_BYTES);
  });
});

describe('operations', () => {
  test('are named by hash in the scripts, and the server has the text of each', () => {
    const named = new Set(scripts().flatMap((name) => text(name).match(/(?<=sha256:)[0-9a-f]{64}/g) ?? []));
    expect(named.size).toBeGreaterThan(0);
    expect([...named].filter((hash) => !(hash in operations()))).toEqual([]);
  });

  test('do not send their texts to browsers', () => {
    const sent = scripts().map(text).join();
    for (const operation of Object.values(operations())) expect(sent).not.toContain(operation.split('\n')[0]);
  });
});

describe('the source', () => {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.tsx?$/.test(name) && !name.startsWith('generated'),
  );
  const imported = (name: string) =>
    [...readFileSync(join(SOURCE, name), 'utf8').matchAll(/(?:\bfrom |\bimport |\bimport\()'([^']+)'/g)].map(
      ([, target = '']) => target,
    );

  test('imports nothing from the server', () => {
    const outside = sources.flatMap((name) =>
      imported(name)
        .filter((target) => target.startsWith('.'))
        .map((target) => relative(SOURCE, resolve(SOURCE, dirname(name), target)))
        .filter((target) => target.startsWith('..')),
    );
    expect(outside).toEqual([]);
  });

  test('imports no package except Preact, its signals, its router, uPlot for charts, and what makes passkeys and QR codes', () => {
    const packages = sources.flatMap(imported).filter((target) => !target.startsWith('.'));
    const known =
      /^(preact(\/hooks|\/jsx-runtime|\/compat)?|@preact\/signals|preact-iso(\/\w+)?|uplot(\/dist\/uPlot\.min\.css)?|@simplewebauthn\/browser|uqr)$/;
    expect([...new Set(packages)].filter((name) => !known.test(name))).toEqual([]);
  });

  test('never writes HTML', () => {
    const markup = /dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write/;
    expect(sources.filter((name) => markup.test(readFileSync(join(SOURCE, name), 'utf8')))).toEqual([]);
  });
});

/** A script with all its static imports, without the dynamic ones. */
function withImports(name: string, known = new Set<string>()): Set<string> {
  if (known.has(name)) return known;
  known.add(name);
  const targets = text(name).matchAll(/(?:\bfrom|\bimport)\s*["'`]\.\/([\w.-]+\.js)["'`]/g);
  for (const [, target = ''] of targets) withImports(`assets/${target}`, known);
  return known;
}

const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0);

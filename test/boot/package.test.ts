// The built gateway as a package: what `npm run build` made, with the packages of `dependencies` alone.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePorts } from '../support/gateway/place.ts';
import { root } from '../support/root.ts';

/** They write migrations and schema.graphql, in a checkout. */
const FOR_DEVELOPMENT = /^tools\/(migration|schema|schema-diff)\.js$/;
const INSTALL = [
  'ci',
  '--omit=dev',
  '--offline',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--dry-run',
  '--loglevel=notice',
];
/** Packages are found in the copy alone, although they are links to those of the checkout. */
const env = { PATH: process.env.PATH, NODE_OPTIONS: '--preserve-symlinks' };

const isOfSource = (file: string) =>
  [file, file.replace(/\.js$/, '.ts')].some((name) => existsSync(join(root, 'src', name)));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const compiled = readdirSync(join(root, 'dist'), { withFileTypes: true })
  .flatMap((entry) => {
    // Hidden entries are the workplace of the build; the dashboard is for browsers.
    if (entry.name.startsWith('.') || entry.name === 'dashboard') return [];
    if (!entry.isDirectory()) return entry.name;
    const below = readdirSync(join(root, 'dist', entry.name), { recursive: true, encoding: 'utf8' });
    return below.map((file) => `${entry.name}/${file}`);
  })
  // Soaks and benches bundle programs of theirs into dist, too.
  .filter((file) => file.endsWith('.js') && isOfSource(file) && !FOR_DEVELOPMENT.test(file));
/** What the compiled code imports by a package's name: at once, only when it is needed, by `createRequire` or by `lazyPackage`. */
const imported = compiled.flatMap((file) => {
  const text = readFileSync(join(root, 'dist', file), 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  const found = text.matchAll(
    /(?:\bfrom |\bimport |\bimport\(|\brequire\(|\blazyPackage\(|createRequire\([^)]*\)\()\s*['"]([@a-z][^'"]*)['"]/g,
  );
  return [...found].map(([, specifier = '']) => ({ file, specifier })).filter(({ specifier }) => !isBuiltin(specifier));
});
/** What runs may be optional: it is installed unless somebody leaves it out. */
const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
const packageOf = (specifier: string) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? '';

test('the compiled code imports nothing that is not a dependency', () => {
  expect(imported.length).toBeGreaterThan(50);
  const packages = imported.map(({ specifier }) => packageOf(specifier));
  expect(packages).toContain('@aws-sdk/client-kinesis'); // One that is loaded when it is needed.
  const missing = imported.filter(({ specifier }) => !(packageOf(specifier) in dependencies));
  expect(missing).toEqual([]);
});

test('every dependency is imported by the compiled code, so what only builds is none', () => {
  const packages = new Set(imported.map(({ specifier }) => packageOf(specifier)));
  expect(Object.keys(dependencies).filter((name) => !packages.has(name))).toEqual([]);
});

/** Links what `npm ci --omit=dev` installs: it goes by the marks of the lock file, too. */
function linkPackages(to: string): void {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  for (const [path, { dev, link }] of Object.entries<Record<string, boolean>>(packages)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    // Packages for other platforms are not there.
    if (!name || dev || link || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(to, name)), { recursive: true });
    symlinkSync(join(root, path), join(to, name), 'junction');
  }
}

describe('a copy of dist, the migrations and the package files', () => {
  let copy: string;
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'gateway-package-'));
    const isHidden = (path: string) => /\/dist\/\.[^/]+/.test(path);
    cpSync(join(root, 'dist'), join(copy, 'dist'), { recursive: true, filter: (path) => !isHidden(path) });
    mkdirSync(join(copy, 'prisma'));
    cpSync(join(root, 'prisma/migrations'), join(copy, 'prisma/migrations'), { recursive: true });
    cpSync(join(root, 'package.json'), join(copy, 'package.json'));
    linkPackages(join(copy, 'node_modules'));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  test('is enough for npm to know what to install', async () => {
    const cwd = mkdtempSync(join(copy, 'install-'));
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(root, file), join(cwd, file));
    const { stdout } = await promisify(execFile)('npm', INSTALL, { cwd, maxBuffer: 1 << 24 });
    const added = new Set(stdout.split('\n').map((line) => /^add (\S+) /.exec(line)?.[1]));
    expect(Object.keys(dependencies).filter((name) => !added.has(name))).toEqual([]);
  });

  test('has every package that is loaded only when it is needed', async () => {
    const specifiers = [...new Set(imported.map(({ specifier }) => specifier))];
    // Prisma's own client and reflect-metadata's users are among them: each is loaded in a process that has nothing else.
    const script = `import 'reflect-metadata';\nfor (const name of ${JSON.stringify(specifiers)}) await import(name);\nprocess.exit();`;
    writeFileSync(join(copy, 'load-all.mjs'), script);
    const load = (file: string) => promisify(execFile)(process.execPath, [file], { cwd: copy, env });
    await load('load-all.mjs');
    // What only development needs is not there: were it found, the above would prove nothing.
    writeFileSync(join(copy, 'load-vitest.mjs'), "import 'vitest';");
    await expect(load('load-vitest.mjs')).rejects.toThrow('ERR_MODULE_NOT_FOUND');
  });

  test('starts, answers and stops', { timeout: 120_000 }, async () => {
    const gateway = spawn(process.execPath, ['dist/bundle/main.js'], {
      cwd: copy,
      env: { ...env, ...freePorts, INITIAL_API_KEY: 'key-of-the-package-test', LOG_LEVEL: 'error' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(gateway, 'exit');
    try {
      let api = '';
      for await (const line of createInterface({ input: gateway.stdout })) {
        api = /^ready api=(\S+)/.exec(line)?.[1] ?? '';
        if (api) break;
      }
      const headers = { authorization: 'Bearer key-of-the-package-test', 'service-version': '2' };
      expect((await fetch(`${api}/credentials`, { headers })).status).toBe(200);
      expect((await fetch(`${api}/dashboard/`)).status).toBe(200);
      expect((await fetch(`${api}/graphql`, { headers: { accept: 'text/html' } })).status).toBe(200);
    } finally {
      gateway.kill('SIGTERM');
    }
    expect((await exited)[0]).toBe(0);
  });
});

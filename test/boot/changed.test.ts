// `npm test -- --changed`: which files of tests a change concerns.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testsOfChanges } from '../../src/boot/changed.js';

let repository: string;
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(repository, path)), { recursive: true });
  writeFileSync(join(repository, path), text);
};
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], { cwd: repository });
const commit = () => {
  git('add', '.');
  git('commit', '--quiet', '--message', 'it');
};

const FILES = {
  'src/main.ts': "import './edge/edge.ts';",
  'src/edge/edge.ts': "import type { Store } from '../store.ts';\nexport { wire } from '../protocol/index.ts';",
  'src/edge/worker.ts': '',
  'src/edge/pool.ts': "new Worker(new URL('./worker.js', import.meta.url));",
  'src/store.ts': 'export type Store = string;',
  'src/protocol/index.ts': '',
  'src/manual/errors.md': '',
  'src/monitoring/alerts.yml': '',
  'src/dashboard/build.js': '',
  'src/dashboard/style/base.css': '',
  'agent/src/main.ts': "import {\n  wire,\n} from '@gateway/protocol';",
  'agent/install.sh': '',
  'README.md': '',
  'test/edge.test.ts': "import { wire } from '../src/edge/edge.ts';",
  'test/pool.test.ts': "const { pool } = await import('./support/pool.ts');",
  'test/support/pool.ts': "import '../../src/edge/pool.ts';",
  'test/store.test.ts': "import type { Store } from '../src/store.ts';\nimport '../src/store.ts';",
  'test/agent.test.ts': "import './support/agent.ts';",
  'test/support/agent.ts': "spawn(join(root, 'agent/dist/agent.js'));",
  'test/process.test.ts': "spawn(join(root, 'dist/bundle/main.js'));",
  'test/dashboard.test.ts': "import '../src/dashboard/build.js';",
  'test/documents.test.ts': "const page = read('README.md'), pages = list(join(root, 'src/manual'));",
  'test/install.test.ts': "ask('install.sh');",
  'test/monitoring.test.ts': 'read(`src/monitoring/$' + '{name}.yml`);',
  'test/brand.test.ts': "git('ls-files');",
};

beforeAll(() => {
  repository = realpathSync(mkdtempSync(join(tmpdir(), 'gateway-changed-')));
  for (const [path, text] of Object.entries(FILES)) write(path, text);
  git('init', '--quiet');
  commit();
});
afterAll(() => rmSync(repository, { recursive: true, force: true }));

/** The tests that a change concerns, without what they all are named by; `brand` reads all files. */
const concerned = (since = 'HEAD') =>
  testsOfChanges(since, repository)
    ?.map((file) => file.replace(/^test\/|\.test\.ts$/g, ''))
    .filter((name) => name !== 'brand');

test.each([
  ['src/edge/edge.ts', ['edge', 'process']],
  ['src/protocol/index.ts', ['agent', 'edge', 'process']],
  ['src/store.ts', ['store']],
  ['src/edge/worker.ts', ['pool']],
  ['test/support/pool.ts', ['pool']],
  ['test/store.test.ts', ['store']],
  ['agent/src/main.ts', ['agent']],
  ['agent/install.sh', ['install']],
  ['src/dashboard/style/base.css', ['dashboard']],
  ['src/manual/errors.md', ['documents']],
  ['src/monitoring/alerts.yml', ['monitoring']],
  ['README.md', ['documents']],
])('a change of %s concerns the tests %j', (file, tests) => {
  const text = FILES[file as keyof typeof FILES];
  write(file, `${text}\n`);
  expect(concerned()).toEqual(tests);
  write(file, text);
});

test.each([
  'package.json',
  'package-lock.json',
  'vitest.config.ts',
  'test/support/global-setup.ts',
  'prisma/schema.prisma',
])('a change of %s concerns all tests', (file) => {
  write(file, '');
  expect(concerned()).toBe(undefined);
  rmSync(join(repository, file));
});

test('a commit that git does not know is an error', () => {
  expect(() => concerned('neither')).toThrow('neither');
});

test('new, deleted and renamed files count, and what was committed since a commit', () => {
  expect(testsOfChanges('HEAD', repository)).toEqual([]);
  write('test/new.test.ts', '');
  git('mv', 'src/edge/edge.ts', 'src/edge/other.ts');
  expect(concerned()).toEqual(['edge', 'new', 'process']);
  rmSync(join(repository, 'test/edge.test.ts'));
  commit();
  write('src/store.ts', '');
  expect(concerned()).toEqual(['store']);
  expect(concerned('HEAD~1')).toEqual(['new', 'process', 'store']);
});

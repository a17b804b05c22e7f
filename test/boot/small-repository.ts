// A small repository with the scripts of src/boot: real processes, the real compiler, and stand-ins for npm and prisma, which
// need no network and log each call.

import { type ChildProcess, execFile } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeEach } from 'vitest';

/** Makes a repository for each test of the file that calls this. */
export function smallRepository() {
  const real = resolve(import.meta.dirname, '../..');
  let root: string;
  let children: ChildProcess[];
  /** A repository that is built, to copy: the compiler takes most of the time. */
  let built: string | undefined;

  beforeEach(() => {
    children = [];
    // `tsc --watch` watches nothing so near to the root of the file system as /tmp/NAME is.
    root = join(realpathSync(mkdtempSync(join(tmpdir(), 'gateway-boot-'))), 'clone');
    cpSync(join(real, 'src/boot'), join(root, 'src/boot'), { recursive: true });
    write('package.json', '{ "type": "module" }');
    write('package-lock.json', '{}');
    write('prisma.config.ts', 'export default {};');
    write('src/protocol/package.json', '{ "type": "module" }');
    write('agent/package.json', '{ "type": "module" }');
    write('agent/default-policy.json', '{}');
    write('agent/src/main.ts', '');
    write('agent/build.js', `import { appendFileSync } from 'node:fs';\nappendFileSync('calls', 'bundle\\n');`);
    write(
      'src/boot/bundle.js',
      [
        `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';`,
        `appendFileSync('calls', 'gateway\\n');`,
        `mkdirSync('dist/bundle', { recursive: true });`,
        `writeFileSync('dist/bundle/main.js', "import '../main.js';");`,
      ].join('\n'),
    );
    write('schema.graphql', 'type Query { it: ID }');
    write('src/dashboard/main.tsx', '');
    write(
      'src/dashboard/build.js',
      [
        `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';`,
        `appendFileSync('calls', 'dashboard\\n');`,
        `mkdirSync('dist/dashboard/assets', { recursive: true });`,
        `writeFileSync('dist/dashboard/assets/main-1234.js', '');`,
        `mkdirSync('src/dashboard/generated', { recursive: true });`,
        `writeFileSync('src/dashboard/generated/operations.ts', String(Date.now()));`,
      ].join('\n'),
    );
    write('prisma/schema.prisma', '// nothing');
    write(
      'tsconfig.json',
      JSON.stringify({
        compilerOptions: { module: 'nodenext', target: 'es2023', types: [], rootDir: 'src', outDir: 'dist' },
        include: ['src'],
        exclude: ['src/boot', 'src/dashboard'],
      }),
    );
    write('src/main.ts', `import { greeting } from './greeting.js';\nconsole.log(greeting);`);
    write('src/greeting.ts', `export const greeting: string = 'first';`);
    program('bin/npm', [
      `echo "npm $*" >> ${root}/calls`,
      'sleep 0.3',
      `mkdir -p node_modules/.bin && cp ${root}/bin/prisma ${root}/bin/tsc node_modules/.bin/`,
    ]);
    program('bin/prisma', ['echo "prisma $*" >> calls', 'echo chatter']);
    program('bin/tsc', [
      'echo tsc >> calls',
      `exec "${process.execPath}" "${real}/node_modules/typescript/bin/tsc" "$@"`,
    ]);
  });

  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(dirname(root), { recursive: true, force: true });
  });

  function write(path: string, text: string) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function program(path: string, lines: string[]) {
    write(path, ['#!/bin/sh', ...lines].join('\n'));
    chmodSync(join(root, path), 0o755);
  }

  const environment = () => ({ ...process.env, PATH: [join(root, 'bin'), process.env.PATH].join(delimiter) });

  /** Runs one of the scripts to its end; rejects when that is a failure. */
  const boot = (script: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [join(root, 'src/boot', script), ...args], { env: environment() });

  /** Makes it as it is after `build.js`. */
  async function build() {
    if (built) {
      rmSync(root, { recursive: true });
      cpSync(built, root, { recursive: true, preserveTimestamps: true });
      return;
    }
    await boot('build.js');
    calls();
    built = mkdtempSync(join(tmpdir(), 'gateway-built-'));
    cpSync(root, built, { recursive: true, preserveTimestamps: true });
  }

  afterAll(() => {
    if (built) rmSync(built, { recursive: true, force: true });
  });

  /** What was run since the last call of this. */
  function calls() {
    const file = join(root, 'calls');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    rmSync(file);
    return lines;
  }
  return {
    get root() {
      return root;
    },
    get children() {
      return children;
    },
    write,
    program,
    environment,
    boot,
    build,
    calls,
  };
}

/** The calls that prepare a fresh clone, in their order. */
export const everything = [
  'npm ci --include=dev --loglevel=warn',
  'prisma generate',
  'tsc',
  'gateway',
  'bundle',
  'dashboard',
];

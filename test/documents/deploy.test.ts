// The files for operators in src/deploy, as they are: pages name them, and have no copy. systemd looks at its units where it is installed
// (Debian's package systemd).

import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { root } from '../support/root.ts';
import { pages, read } from './pages.ts';

const run = promisify(execFile);
const directory = join(root, 'src/deploy');
const systemd = join(directory, 'systemd');
/** Where a unit expects the version that runs. */
const CURRENT = '/opt/tunnel-gateway/current';

test('a page names each file, and none has a copy of it', async () => {
  const texts = pages.map(read).join('\n');
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) expect(texts).toContain(`](../deploy/${path.slice(directory.length + 1)})`);
  expect(texts).not.toMatch(/^(ExecStart|ListenStream)=/m);
});

const hasSystemd = await run('systemd-analyze', ['--version']).then(
  () => true,
  () => false,
);
if (!hasSystemd)
  process.stderr.write('systemd-analyze is not there (apt-get install systemd): it does not look at the units.\n');

describe.runIf(hasSystemd)('systemd-analyze', () => {
  let temporary: string;
  let units: string[];
  beforeAll(async () => {
    temporary = await mkdtemp(join(inject('run'), 'units-'));
    // What the unit runs has to be there.
    const current = join(temporary, 'current');
    await mkdir(join(current, 'bin'), { recursive: true });
    await mkdir(join(current, 'manual'));
    await copyFile(join(root, 'src/boot/tunnel-gateway'), join(current, 'bin/tunnel-gateway'));
    await chmod(join(current, 'bin/tunnel-gateway'), 0o755);
    units = [];
    for (const name of await readdir(systemd)) {
      const text = await readFile(join(systemd, name), 'utf8');
      units.push(join(temporary, name));
      await writeFile(join(temporary, name), text.replaceAll(CURRENT, current));
    }
  });
  afterAll(() => rm(temporary, { recursive: true }));

  test('finds nothing wrong in the units', async () => {
    expect(await run('systemd-analyze', ['verify', '--man=no', ...units])).toEqual({ stdout: '', stderr: '' });
  });

  test('finds the service exposed by at most 3.0', async () => {
    const service = join(systemd, 'tunnel-gateway.service');
    const { stdout } = await run('systemd-analyze', ['security', '--offline=true', '--no-pager', service]);
    expect(Number(/Overall exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1])).toBeLessThanOrEqual(3);
  });
});

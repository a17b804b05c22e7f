// What `npm start` installs on a stranger's machine: npm checks a package only against an `integrity` that is there.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../support/root.ts';

interface LockedPackage {
  link?: boolean;
  integrity?: string;
  resolved?: string;
}

describe.each(['package-lock.json', 'test/bench/peers/package-lock.json'])('%s', async (file) => {
  const { packages } = JSON.parse(await readFile(join(root, file), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const installed = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);

  test('has a SHA-512 integrity for every package', () => {
    expect(installed.length).toBeGreaterThan(50);
    const unchecked = installed.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'));
    expect(unchecked.map(([path]) => path)).toEqual([]);
  });

  test('names no registry', () => {
    const named = installed.filter(([, { resolved = '' }]) => /^[a-z+]+:\/\//.test(resolved));
    expect(named.map(([path]) => path)).toEqual([]);
  });
});

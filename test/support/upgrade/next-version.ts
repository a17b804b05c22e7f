// A later version of this gateway: a copy of the build, with further migrations.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { root } from '../root.ts';

export interface NextVersion {
  directory: string;
  /** Upgrades a gateway to it, as `npm run upgrade` does. @returns the exit code, and what is printed. */
  upgrade(env: Record<string, string>): Promise<{ code: number | null; printed: string }>;
  /** Removes it, which must not run any more. */
  remove(): Promise<void>;
}

/** @param migrations SQL by name. @param parent where versions are beside each other. @param code that each of its processes runs first. */
export async function nextVersion(
  migrations: Record<string, string>,
  { parent = inject('run'), code = '' }: { parent?: string; code?: string } = {},
): Promise<NextVersion> {
  const directory = await mkdtemp(join(parent, 'version-'));
  for (const part of ['dist', 'prisma/migrations', 'package.json'])
    await cp(join(root, part), join(directory, part), { recursive: true });
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
  for (const [name, sql] of Object.entries(migrations)) {
    await mkdir(join(directory, 'prisma/migrations', name));
    await writeFile(join(directory, 'prisma/migrations', name, 'migration.sql'), sql);
  }
  const main = join(directory, 'dist/bundle/main.js');
  if (code !== '') await writeFile(main, `${code}\n${await readFile(main, 'utf8')}`);
  return {
    directory,
    async upgrade(env) {
      const tool = spawn(process.execPath, [join(directory, 'dist/tools/upgrade.js')], {
        env: { PATH: process.env.PATH, ...env },
      });
      let printed = '';
      for (const stream of [tool.stdout, tool.stderr]) stream.on('data', (chunk) => (printed += chunk));
      const [code] = await once(tool, 'close');
      return { code, printed };
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

// Before the first test of a project: a migrated database to copy.

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { openEmbedded } from '../../src/store/embedded/index.ts';
import { migrate } from '../../src/store/migrations.ts';
import { migrations, onMaintenance, root, urlOf } from './place.ts';

export default async function setup(project: TestProject): Promise<(() => Promise<unknown>) | undefined> {
  const kind = project.config.env?.GATEWAY_TEST_DATABASE; // The root project, which has no tests, has none.
  if (kind === 'embedded') project.provide('template', await embeddedTemplate());
  if (kind !== 'postgres') return undefined;
  const name = `gateway_template_${randomBytes(8).toString('hex')}`;
  await onMaintenance(`CREATE DATABASE "${name}"`);
  const pool = new pg.Pool({ connectionString: urlOf(name) });
  await migrate(pool, migrations).finally(() => pool.end());
  project.provide('template', name);
  return () => onMaintenance(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
}

/** Making a cluster takes seconds, so it is kept from run to run, under a hash of what it was made from. */
async function embeddedTemplate(): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  for (const entry of readdirSync(migrations, { recursive: true, encoding: 'utf8' }).sort())
    if (entry.endsWith('.sql')) hash.update(entry).update(readFileSync(join(migrations, entry)));
  const place = join(root, 'node_modules/.cache', `gateway-test-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(place)) return place;

  await mkdir(dirname(place), { recursive: true });
  const draft = await mkdtemp(`${place}-`);
  const { pool, close } = await openEmbedded(draft, { onFatal: (text) => process.stderr.write(`${text}\n`) });
  await migrate(pool, migrations).finally(close);
  // Another run may have been quicker.
  await rename(draft, place).catch(() => rm(draft, { recursive: true }));
  return place;
}

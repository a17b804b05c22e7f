// Upgrades to versions with other schemas: one that fails after a migration leaves a gateway that works, and a migration that takes
// away what the running version uses is not applied.

import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type NextVersion, nextVersion } from '../support/upgrade/next-version.ts';
import { CONTROL, type ProcessGroup, startProcessGroup } from '../workers/support.ts';

const MORE = { '99990101000000_more': `ALTER TABLE "credential" ADD COLUMN "more" TEXT NOT NULL DEFAULT '';` };
const BROKEN = { '99990101000001_broken': 'SELECT 1/0;' };
const LESS = {
  '99990101000002_less': '-- contract: 99990101000000_more\nALTER TABLE "credential" DROP COLUMN "more";',
};
/** Another control process opens the embedded database anew, which takes seconds where the machine is busy. */
const LONG = { timeout: 60_000 };

test('an upgrade that fails leaves a schema with which the gateway goes on, and a schema contracts only when all that run live with it', {
  timeout: 300_000,
}, async () => {
  const group = await startProcessGroup();
  const versions: NextVersion[] = [];
  onTestFinished(async () => {
    await group.close();
    for (const version of versions) await version.remove();
  });
  const { gateway } = group;
  const upgradeTo = async (migrations: Record<string, string>) => {
    const version = await nextVersion(migrations);
    versions.push(version);
    return version.upgrade({ WORKERS: '2', ...gateway.place.env });
  };
  const isLogged = (text: string) =>
    expect(
      gateway.stderr.some((line) => line.includes(text)),
      text,
    ).toBe(true);

  const failed = await upgradeTo({ ...MORE, ...BROKEN });
  expect(failed).toMatchObject({
    code: 1,
    printed: expect.stringMatching(/control has ended \(1\)\n.*99990101000001_broken cannot be applied/s),
  });
  isLogged('The migration 99990101000001_broken cannot be applied, and nothing of it was: division by zero');
  await works(group);
  await worksWithAnotherControlProcess(group);

  // The migration that it needs is there, but no version that knows it runs.
  expect((await upgradeTo({ ...MORE, ...LESS })).code).toBe(1);
  isLogged('99990101000002_less takes away what versions before 99990101000000_more use, and such a version runs');
  await works(group);
  await worksWithAnotherControlProcess(group);

  expect(await upgradeTo(MORE)).toMatchObject({ code: 0, printed: expect.stringContaining('The new processes serve') });
  await works(group);
  expect(await upgradeTo({ ...MORE, ...LESS })).toMatchObject({ code: 0 });
  isLogged('"migrations":["99990101000002_less"]');
  await works(group);

  expect(await gateway.kill('SIGTERM')).toBe(0);
  await expect(gateway.restart()).rejects.toThrow('99990101000002_less took away what this version uses.');
});

let described = 0;

/** What is written is read again. */
async function works({ gateway }: ProcessGroup): Promise<void> {
  const description = `credential ${++described}`;
  await eventually(async () => {
    const { status, body } = await gateway.call('POST', '/credentials', { description });
    expect(status).toBe(201);
    const { body: read } = await gateway.call('GET', `/credentials/${body.id}`);
    expect(read).toMatchObject({ id: body.id, description });
  }, LONG);
}

async function worksWithAnotherControlProcess(group: ProcessGroup): Promise<void> {
  const killed = group.kill(CONTROL, 'SIGKILL');
  await eventually(() => expect([undefined, killed]).not.toContain(group.pid(CONTROL)), LONG);
  await works(group);
}

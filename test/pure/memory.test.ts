import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { AFTER_START, collectWhenIdle } from '../../src/monitoring/idle-collection.ts';
import { root } from '../support/root.ts';

const MB = 1024 * 1024;
const LOOK_MS = 5000;
const COMPILED = join(root, 'dist/monitoring/idle-collection.js');

/** A process that holds what `alive` says, and garbage besides. */
function start(baselineBytes?: number) {
  const world = { busy: 0, alive: 80, garbage: 0, collections: 0 };
  // Not the timers of the process: what else runs in it needs those.
  let look = async () => {};
  const end = collectWhenIdle(
    {
      usedBytes: () => (world.alive + world.garbage) * MB,
      utilization: () => world.busy,
      async collect() {
        world.collections++;
        world.garbage = 0;
      },
      every(ms, work) {
        expect(ms).toBe(LOOK_MS);
        look = work;
        return () => {
          look = async () => {};
        };
      },
    },
    baselineBytes,
  );
  const looks = async (count: number) => {
    for (let i = 0; i < count; i++) await look();
  };
  return { world, end, looks };
}

test('garbage of a peak is collected once it is over, and within a minute', async () => {
  const { world, end, looks } = start();
  Object.assign(world, { busy: 0.8, alive: 500, garbage: 300 });
  await looks(20);
  expect(world).toMatchObject({ collections: 0, garbage: 300 });
  Object.assign(world, { busy: 0.01, alive: 80, garbage: 800 });
  await looks(1);
  expect(world.collections).toBe(0); // It may only have taken breath.
  await looks(11);
  expect(world).toMatchObject({ collections: 1, garbage: 0 });
  end();
});

test('what is in use is not looked through again and again', async () => {
  const { world, end, looks } = start();
  world.alive = 400;
  await looks(100);
  expect(world.collections).toBe(1);
  world.alive = 90;
  await looks(3);
  world.garbage = 100;
  await looks(3);
  expect(world).toMatchObject({ collections: 2, garbage: 0 });
  end();
});

test('little garbage is left to V8', async () => {
  const { world, end, looks } = start();
  world.garbage = 50;
  await looks(100);
  expect(world.collections).toBe(0);
  end();
  world.garbage = 500;
  await looks(100);
  expect(world.collections).toBe(0);
});

test('what the start left behind is collected once, at the first idle moment', async () => {
  const { world, end, looks } = start(AFTER_START);
  Object.assign(world, { alive: 25, garbage: 15 });
  await looks(2);
  expect(world).toMatchObject({ collections: 1, garbage: 0 });
  await looks(100);
  expect(world.collections).toBe(1);
  end();
});

test('a collection of the very process that asks for it ends, and leaves it running', async () => {
  // In a process of its own: this one has the heap of all tests.
  const script = `import { collectGarbage } from ${JSON.stringify(pathToFileURL(COMPILED))};
    for (let time = 0; time < 2; time++) await collectGarbage();
    console.log('it runs');`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  expect(stdout).toBe('it runs\n');
});

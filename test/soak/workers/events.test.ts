// `npm run soak -- workers`: what events cost visitors at workers. `npm run bench -- events` measures it.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { onServer } from '../../support/gateway/place.ts';
import { root } from '../../support/root.ts';
import { say } from './load.ts';

const ARGUMENTS = '--only visits --database embedded --rounds 5 --seconds 2'.split(' ');

test.skipIf(onServer)('events cost visitors little', { timeout: 300_000 }, async () => {
  const bench = spawn(process.execPath, [join(root, 'test/bench/events/main.js'), ...ARGUMENTS], {
    env: { ...process.env, WORKERS: '2' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const figures = await text(bench.stdout);
  say(figures);
  expect(figures.match(/: met\)/g)).toHaveLength(2);
  expect(figures).toMatch(/^ +0 events did not arrive/m);
});

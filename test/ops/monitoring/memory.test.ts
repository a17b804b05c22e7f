// How much memory a gateway takes: README "Running it". What it gives back is in `test/soak/memory.test.ts`.

import { expect, onTestFinished, test } from 'vitest';
import { newPlace, onServer } from '../../support/gateway/place.ts';
import { startProcess } from '../../support/gateway/process.ts';
import { residentBelow, residentOf, startEnvironment } from '../../support/load/resident.ts';

const FIRST_START_MB = 400;
const LATER_START_MB = 300;

test.skipIf(onServer || process.platform !== 'linux')(
  'the first start on an embedded database stays within 400 MB, and later ones within 300',
  async () => {
    const place = await newPlace({ empty: true });
    onTestFinished(() => place.remove());
    const env = await startEnvironment();
    let most = 0;
    const look = setInterval(() => {
      most = Math.max(most, residentBelow(process.pid));
    }, 20);
    onTestFinished(() => clearInterval(look));
    const first = await startProcess(env, place);
    onTestFinished(() => void first.kill());
    clearInterval(look);
    expect(most).toBeGreaterThan(100);
    expect(most).toBeLessThan(FIRST_START_MB);
    expect(residentOf(first.pid)?.now).toBeLessThan(LATER_START_MB);
    await first.kill('SIGTERM');

    const later = await first.restart();
    onTestFinished(() => void later.kill());
    expect(residentOf(later.pid)?.most).toBeLessThan(LATER_START_MB);
  },
  120_000,
);

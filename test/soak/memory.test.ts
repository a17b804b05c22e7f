// `npm run soak -- memory`: what a peak of visitors took up is given back. When that is done, `test/pure/memory.test.ts` says.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { onServer } from '../support/gateway/place.ts';
import { startProcess } from '../support/gateway/process.ts';
import { residentOf, startEnvironment } from '../support/load/resident.ts';

/** Each stays, and asks again and again. */
const VISITORS = 12_000;
const ROUNDS_MAX = 40;
const REQUEST = `GET / HTTP/1.1\r\nHost: none.tunnel.localhost\r\nX-Pad: ${'a'.repeat(12_000)}\r\n\r\n`;
/** Until so much has come of it. */
const PEAK_MB = 120;
/** What glibc keeps of it for the next time: 0.4 were seen. Without a collection all is. */
const LEFT_MAX = 0.8;

test.skipIf(onServer || process.platform !== 'linux')(
  'what a peak of visitors took up is given back within a minute after it',
  async () => {
    const gateway = await startProcess(await startEnvironment());
    onTestFinished(() => gateway.kill().then(() => gateway.place.remove()));
    const resident = () => residentOf(gateway.pid)?.now ?? 0;
    const before = resident();

    const [host, port] = gateway.http.split(':');
    const visitors: Socket[] = [];
    const leave = () => {
      for (const visitor of visitors) visitor.destroy();
    };
    onTestFinished(leave);
    let answered = 0;
    for (let n = 0; n < VISITORS; n++) {
      const visitor = connect(Number(port), host).on('error', () => {});
      visitors.push(visitor.on('data', () => answered++));
      await once(visitor, 'connect');
    }
    for (let round = 1; round <= ROUNDS_MAX && resident() < before + PEAK_MB; round++) {
      for (const visitor of visitors) visitor.write(REQUEST);
      await eventually(() => expect(answered).toBeGreaterThanOrEqual(round * VISITORS), { timeout: 60_000 });
    }
    const peak = resident();
    process.stdout.write(`before ${Math.round(before)} MB, peak ${Math.round(peak)} MB\n`);
    expect(peak).toBeGreaterThanOrEqual(before + PEAK_MB);
    leave();
    const most = before + (peak - before) * LEFT_MAX;
    await eventually(() => expect(resident()).toBeLessThan(most), { timeout: 60_000, interval: 500 });
    process.stdout.write(`after ${Math.round(resident())} MB\n`);
  },
  200_000,
);

// How much memory a gateway takes, and gives back: README "Running it".

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { newPlace, onServer, root } from '../support/place.ts';
import { startProcess } from '../support/process.ts';
import { residentBelow, residentOf } from '../support/resident.ts';

const FIRST_START_MB = 400;
const LATER_START_MB = 300;
/** Each stays, and asks again and again. */
const VISITORS = 6000;
const ROUNDS_MAX = 40;
const REQUEST = `GET / HTTP/1.1\r\nHost: none.tunnel.localhost\r\nX-Pad: ${'a'.repeat(12_000)}\r\n\r\n`;
/** Until so much has come of it. */
const PEAK_MB = 120;
/** What glibc keeps of it for the next time: 0.4 were seen. Without a collection all is. */
const LEFT_MAX = 0.65;

/** What `npm start` sets for the gateway's process. */
async function startEnvironment(): Promise<Record<string, string>> {
  const { scripts } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'));
  return Object.fromEntries([...scripts.start.matchAll(/(\w+)=(\S+) /g)].map(([, name, value]) => [name, value]));
}

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
    expect(peak).toBeGreaterThanOrEqual(before + PEAK_MB);
    leave();
    const most = before + (peak - before) * LEFT_MAX;
    await eventually(() => expect(resident()).toBeLessThan(most), { timeout: 60_000, interval: 500 });
  },
  200_000,
);

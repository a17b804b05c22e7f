// The window of a connection over links that are played on a clock of their own: as many bytes a millisecond as the link has, a
// round trip, and processes that take their time.

import { describe, expect, test } from 'vitest';
import { LinkWindow, type Probe } from '../../src/protocol/mux/link-window.ts';

interface Link {
  /** Bytes a millisecond. */
  rate(now: number): number;
  roundTrip: number;
  /** By how much a heartbeat comes back later, as a process is busy; milliseconds. */
  busy?(now: number): number;
}

const FRAME = 64 * 1024;

/** Sends for so long as much as the window lets it. @returns what was seen in the last part of that time. */
function transfer(link: Link, { ms, from = 0 }: { ms: number; from?: number }) {
  const window = new LinkWindow();
  const inFlight: { at: number; probe: Probe }[] = [];
  let now = 0;
  let written = 0;
  let idleAt = 0;
  let writtenBefore = 0;
  const queues: number[] = [];
  const send = (bytes: number) => {
    written += bytes;
    idleAt = Math.max(idleAt, now) + bytes / link.rate(now);
  };
  const probe = () => {
    send(12);
    const at = idleAt + link.roundTrip + (link.busy?.(now) ?? 0);
    inFlight.push({ at: Math.max(at, inFlight.at(-1)?.at ?? 0), probe: window.probe(written, now) });
  };
  const probeIfDue = () => {
    if (window.isProbeDue(written, () => now)) probe();
  };
  probe();
  while (now < ms) {
    for (let capacity = window.capacity(written); capacity > 0; capacity = window.capacity(written)) {
      send(Math.min(window.frameMax(FRAME), capacity));
      probeIfDue();
    }
    if (now >= from) queues.push(idleAt - now);
    else writtenBefore = written;
    const next = inFlight.shift();
    if (!next) throw new Error('nothing is on its way that would let it go on');
    now = Math.max(now, next.at);
    window.confirm(next.probe, written, now);
    probeIfDue();
  }
  queues.sort((a, b) => a - b);
  return {
    /** How long a new frame waits: in the middle, and at most but for a twentieth of the time. */
    wait: queues[Math.floor(queues.length / 2)] as number,
    longWait: queues[Math.floor(queues.length * 0.95)] as number,
    rate: (written - writtenBefore) / (ms - from),
  };
}

describe('a link', () => {
  test.each([
    [8, 60],
    [8, 600],
    [125, 300],
    [200, 40],
    [1250, 20],
    [12_500, 5],
  ])(
    'of %i kB/s and a round trip of %i ms is used, and a new frame waits for a tenth of a second',
    (rate, roundTrip) => {
      const seen = transfer({ rate: () => rate, roundTrip }, { ms: 120_000, from: 10_000 });
      expect(seen.rate).toBeGreaterThan(rate * 0.85);
      // Two kilobytes are on their way in any case.
      const least = 2500 / rate;
      expect(seen.wait).toBeLessThan(Math.max(110, least));
      expect(seen.longWait).toBeLessThan(Math.max(250, 1.5 * least));
    },
  );

  test('that is fast is not slowed down', () => {
    const seen = transfer({ rate: () => 100_000, roundTrip: 1 }, { ms: 5000, from: 500 });
    expect(seen.rate).toBeGreaterThan(95_000);
  });

  test('that becomes slow is found out, once what is on its way has arrived', () => {
    const rate = (now: number) => (now < 10_000 ? 500 : 8);
    const seen = transfer({ rate, roundTrip: 40 }, { ms: 90_000, from: 40_000 });
    expect(seen.rate).toBeGreaterThan(7);
    expect(seen.wait).toBeLessThan(350);
  });

  test('that becomes fast is used within seconds', () => {
    const rate = (now: number) => (now < 10_000 ? 8 : 2000);
    const seen = transfer({ rate, roundTrip: 40 }, { ms: 60_000, from: 20_000 });
    expect(seen.rate).toBeGreaterThan(1800);
  });
});

describe('a process that is busy', () => {
  test.each([120, 200, 1000])('for %i ms at a time does not make a fast link slow', (busy) => {
    const link = { rate: () => 5000, roundTrip: 1, busy: (now: number) => (now < 3000 ? 0 : busy) };
    const seen = transfer(link, { ms: 60_000, from: 20_000 });
    expect(seen.rate).toBeGreaterThan(3000);
  });

  test('every now and then does not, either', () => {
    const busy = (now: number) => Math.max(0, 250 - (now % 500));
    const seen = transfer({ rate: () => 5000, roundTrip: 1, busy }, { ms: 60_000, from: 10_000 });
    expect(seen.rate).toBeGreaterThan(4500);
  });

  test('leaves nothing behind', () => {
    const busy = (now: number) => (now > 5000 && now < 25_000 ? 700 : 0);
    const seen = transfer({ rate: () => 1000, roundTrip: 5, busy }, { ms: 90_000, from: 50_000 });
    expect(seen.rate).toBeGreaterThan(900);
    expect(seen.wait).toBeLessThan(110);
  });
});

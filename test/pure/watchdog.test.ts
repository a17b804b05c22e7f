import pino from 'pino';
import { expect, test } from 'vitest';
import { Watchdog } from '../../src/process/watchdog.ts';

/** A watchdog of 10 s, with processes that only note that they were killed, and time that passes when a test says so. */
function watching() {
  let now = 0;
  const killed: string[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const watchdog = new Watchdog(
    10_000,
    log,
    (name) => void killed.push(name),
    () => now,
  );
  const process = (name: string) => {
    const signals: unknown[] = [];
    // Only these members are used of a process.
    let isOver = false;
    const child = {
      process: { pid: 7, kill: (signal: unknown) => signals.push(signal) },
      isDead: () => isOver,
    } as never;
    const end = () => {
      isOver = true;
      watchdog.ended(child);
    };
    const beat = (more = {}) => watchdog.heard(child, name, { delayMs: 3, isDebugged: false, ...more });
    return { beat, end, signals };
  };
  /** Time passes, and the watchdog looks as often as its timer has it do so. */
  const pass = (ms: number) => {
    for (const end = now + ms; now < end; ) {
      now = Math.min(end, now + 2500);
      watchdog.check();
    }
  };
  const leap = (ms: number) => {
    now += ms;
    watchdog.check();
  };
  return { watchdog, process, pass, leap, killed, lines };
}

test('a process is killed when it has sent no heartbeat for all of the time, and only once', () => {
  const { process, pass, killed, lines } = watching();
  const [silent, alive] = [process('worker 1'), process('worker 2')];
  silent.beat({ delayMs: 400 });
  for (let second = 0; second < 9; second += 3) {
    alive.beat();
    pass(2500);
  }
  expect(killed).toEqual([]);
  alive.beat();
  pass(2500);
  expect(killed).toEqual(['worker 1']);
  expect(silent.signals).toEqual(['SIGKILL']);
  expect(alive.signals).toEqual([]);
  expect(lines).toMatchObject([{ process: 'worker 1', pid: 7, silentMs: 10_000, lastDelayMs: 400 }]);
  alive.beat();
  pass(5000);
  expect(silent.signals.length).toBe(1);
});

test('a process is watched from its first heartbeat on, and no more when it has ended', () => {
  const { process, pass, killed } = watching();
  process('starting');
  const { beat, end } = process('ended');
  beat();
  end();
  beat(); // The channel may still have one that the process sent before.
  pass(60_000);
  expect(killed).toEqual([]);
});

test('a process that a debugger holds is not killed', () => {
  const { process, pass, killed } = watching();
  const { beat } = process('worker 1');
  beat({ isDebugged: true });
  pass(60_000);
  expect(killed).toEqual([]);
  beat();
  pass(10_000);
  expect(killed).toEqual(['worker 1']);
});

test('a primary that was stopped itself gives all processes their time again', () => {
  const { process, pass, leap, killed } = watching();
  process('worker 1').beat();
  leap(3_600_000);
  expect(killed).toEqual([]);
  pass(7500);
  expect(killed).toEqual([]);
  pass(2500);
  expect(killed).toEqual(['worker 1']);
});

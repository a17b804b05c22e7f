// A clock that stands still while the process does.

const TICK_MS = 5;

/**
 * Milliseconds that go on with the turns of the event loop. Where the machine is busy and the process waits for it, no
 * time passes: what a test has sent is read before any patience with it is over.
 */
export function loopClock(): () => number {
  let time = 0;
  setInterval(() => {
    time += TICK_MS;
  }, TICK_MS).unref();
  return () => time;
}

// The last guard: exceptions that nobody caught. One visitor's must not end what all others are served by.

import type { Logger } from 'pino';
import { describeFailure } from './api/failure.ts';
import type { Metrics } from './metrics.ts';

/** How many are written out in each while; the others are only counted, as somebody may provoke them without end. */
const LOGGED_MAX = 20;
const WHILE_MS = 60_000;
/** After which nothing can be relied on. */
const FATAL = /^ERR_(?:MEMORY_ALLOCATION_FAILED|WORKER_OUT_OF_MEMORY)$/;
const OUT_OF_MEMORY = /allocation failed|out of memory/i;

/**
 * From now on, what nobody caught is logged as a defect with its stack, and counted, and the process goes on. Whoever knew
 * which connection it was about has ended it (`reportDefect`); otherwise the deadlines of connections do. To be called when
 * everything is started: before that an exception ends the process, as there is nobody yet whom it would harm.
 * @param end ends the process, told why: for want of memory.
 */
export function guardProcess(log: Logger, { counter }: Metrics, end: (why: string) => void): void {
  let count = 0;
  let since = 0;
  let logged = 0;
  counter('gateway_defects_total', 'Exceptions that nobody caught.', [], () => [[{}, count]]);
  // Node turns rejections that nobody handles into these, too.
  process.on('uncaughtException', (error: unknown, origin) => {
    count++;
    const now = performance.now();
    if (now - since > WHILE_MS) {
      since = now;
      logged = 0;
    }
    const isFatal = isOutOfMemory(error);
    if (logged++ < LOGGED_MAX || isFatal)
      log.error({ err: describeFailure(error), origin, count }, 'a defect: nobody caught an exception');
    if (isFatal) end('There is no memory left.');
  });
}

function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    FATAL.test(String((error as NodeJS.ErrnoException).code)) ||
    (error instanceof RangeError && OUT_OF_MEMORY.test(error.message))
  );
}

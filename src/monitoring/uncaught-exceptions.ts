// The last resort for exceptions that no code caught. A defect that one visitor triggers must not end the service of all others.

import type { Logger } from 'pino';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { Metrics } from './metrics.ts';

/** Defects that are logged in full per window. The others are only counted, because a visitor may provoke any number. */
const LOGGED_PER_WINDOW = 20;
const WINDOW_MS = 60_000;
/** Errors after which the process cannot be relied on. */
const FATAL = /^ERR_(?:MEMORY_ALLOCATION_FAILED|WORKER_OUT_OF_MEMORY)$/;
const OUT_OF_MEMORY = /allocation failed|out of memory/i;

/**
 * From now on an uncaught exception is logged as a defect with its stack and counted, and the process goes on. The code
 * that knew the connection has closed it (`reportDefect`); otherwise the connection's own timeouts do. To be called when
 * everything is started: before that an exception ends the process, as no visitor is served yet.
 * @param exit ends the process with a reason, when it is out of memory.
 */
export function handleUncaughtExceptions(log: Logger, { counter }: Metrics, exit: (reason: string) => void): void {
  let count = 0;
  let windowStart = 0;
  let logged = 0;
  counter('gateway_defects_total', 'Exceptions that nobody caught.', [], () => [[{}, count]]);
  // Node raises unhandled rejections as uncaught exceptions, too.
  process.on('uncaughtException', (error: unknown, origin) => {
    count++;
    const now = performance.now();
    if (now - windowStart > WINDOW_MS) {
      windowStart = now;
      logged = 0;
    }
    const isFatal = isOutOfMemory(error);
    if (logged++ < LOGGED_PER_WINDOW || isFatal)
      log.error({ err: describeFailure(error), origin, count }, 'uncaught exception');
    if (isFatal) exit('There is no memory left.');
  });
}

function isOutOfMemory(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    FATAL.test(String((error as NodeJS.ErrnoException).code)) ||
    (error instanceof RangeError && OUT_OF_MEMORY.test(error.message))
  );
}

// One request to a sink with a timeout that holds even if the sink ignores its signal.

import { type PutRejection, type Sink, SinkError, toShortLine } from '../sinks/sink.ts';
import type { WrittenEvent } from '../written-event.ts';

export interface RequestOptions {
  /** How long a request may take, in milliseconds. */
  timeoutMs: number;
  /** Aborts the request. */
  signal: AbortSignal;
}

/** Sends one request, and settles within `timeoutMs`. @throws {SinkError} and nothing else. */
export async function putWithin(
  sink: Sink,
  events: readonly WrittenEvent[],
  { timeoutMs, signal }: RequestOptions,
): Promise<readonly PutRejection[]> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  const timeout = new SinkError('retry', { code: 'Timeout', message: `no answer within ${timeoutMs / 1000} s` });
  const timer = setTimeout(() => controller.abort(timeout), timeoutMs);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    // A sink that ignores the signal is left to itself: the queue of its destination must not hang with it.
    return await Promise.race([sink.put(events, controller.signal), rejectWhenAborted(controller.signal)]);
  } catch (error) {
    throw asSinkError(controller.signal.aborted ? controller.signal.reason : error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

/** Turns whatever was thrown into a failure of a request. Unknown failures are retried. */
export function asSinkError(error: unknown): SinkError {
  if (error instanceof SinkError) return error;
  if (!(error instanceof Error))
    return new SinkError('retry', { code: 'Unknown', message: toShortLine(String(error)) });
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return new SinkError('retry', { code, message: toShortLine(error.message) });
}

function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

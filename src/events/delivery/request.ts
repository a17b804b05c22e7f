// One request to a sink, which ends in time whatever the sink does.

import type { WrittenEvent } from '../event.ts';
import { type PutRejection, type Sink, SinkError, shortly } from '../sinks/sink.ts';

export interface RequestOptions {
  /** How long a request may take; milliseconds. */
  timeoutMs: number;
  /** Ends the request. */
  signal: AbortSignal;
}

/** @throws {SinkError} only. */
export async function putWithin(
  sink: Sink,
  events: readonly WrittenEvent[],
  { timeoutMs, signal }: RequestOptions,
): Promise<readonly PutRejection[]> {
  const ending = new AbortController();
  const end = () => ending.abort(signal.reason);
  const late = new SinkError('retry', { code: 'Timeout', message: `no answer within ${timeoutMs / 1000} s` });
  const timer = setTimeout(() => ending.abort(late), timeoutMs);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    // A sink that does not hear of the end is left to itself: the lane must not hang with it.
    return await Promise.race([sink.put(events, ending.signal), endOf(ending.signal)]);
  } catch (error) {
    throw asSinkError(ending.signal.aborted ? ending.signal.reason : error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** Whatever was thrown, as a failure of a request: what is not known may be better the next time. */
export function asSinkError(error: unknown): SinkError {
  if (error instanceof SinkError) return error;
  if (!(error instanceof Error)) return new SinkError('retry', { code: 'Unknown', message: shortly(String(error)) });
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return new SinkError('retry', { code, message: shortly(error.message) });
}

function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

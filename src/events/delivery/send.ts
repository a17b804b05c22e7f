// Sends events in their order, in as many requests as the sink's limits require, one after the other. Only this file decides
// which events become dead letters and which are sent again.

import { type Rejection, type Sink, SinkError } from '../sinks/sink.ts';
import type { WrittenEvent } from '../written-event.ts';
import type { UndeliverableEvent } from './destination-queue.ts';
import { asSinkError, putWithin, type RequestOptions } from './request.ts';

export interface SendOptions extends RequestOptions {
  /** Called before each request. */
  mayContinue(): boolean;
  /** The most events of one request, where the sink's own limit proved too large: `SendResult.batchLimit` of the call before. */
  batchLimit?: number | undefined;
}

export interface SendResult {
  /** The events that were not sent or not accepted, in order. They are to be sent first the next time. */
  remaining: readonly WrittenEvent[];
  dead: readonly UndeliverableEvent[];
  /** The events that the target accepted, and those that it rejected without naming them. */
  delivered: readonly WrittenEvent[];
  /** How many of the delivered events the target rejected without naming them. */
  unnamedRejections: number;
  /** Why sending stopped; undefined when all events were sent, or the time slice was over. */
  failure: SinkError | undefined;
  requests: number;
  /** Requests that were split. */
  splits: number;
  /**
   * The limit to begin with the next time, when the time slice ended while a request was being split and no part of it had been
   * accepted. Without it, splitting would start over each time and never end.
   */
  batchLimit: number | undefined;
}

/**
 * Sends events until all are sent, something fails, or the time slice is over. After failures of the kinds `config` and `retry`
 * the events remain; only events that the target rejects for their own sake become dead letters.
 */
export async function sendAll(sink: Sink, events: readonly WrittenEvent[], options: SendOptions): Promise<SendResult> {
  const { fitting, sizes, dead } = checkSizes(sink, events);
  const pending = requestsOf(sink, fitting, sizes, options.batchLimit);
  const delivered: WrittenEvent[] = [];
  let [requests, splits, unnamedRejections] = [0, 0, 0];
  let { batchLimit } = options;
  const result = (remaining: readonly WrittenEvent[], failure?: SinkError): SendResult => {
    return { remaining, dead, delivered, failure, requests, splits, batchLimit, unnamedRejections };
  };

  for (let next = pending.shift(); next; next = pending.shift()) {
    const remaining = () => [next, ...pending].flat();
    if (options.signal.aborted || !options.mayContinue()) return result(remaining());
    requests++;
    try {
      const outcome = outcomeOf(next, await putWithin(sink, next, options));
      batchLimit = undefined;
      delivered.push(...outcome.accepted);
      unnamedRejections += outcome.unnamedRejections;
      dead.push(...outcome.dead);
      if (outcome.failure) return result([...outcome.retried, ...pending.flat()], outcome.failure);
    } catch (error) {
      const failure = asSinkError(error);
      if (options.signal.aborted) return result(remaining());
      if (failure.kind !== 'split') return result(remaining(), failure);
      splits++;
      const [event] = next;
      if (event && next.length === 1) {
        dead.push({ event, code: failure.code, message: failure.message });
        batchLimit = undefined;
      } else {
        batchLimit = Math.ceil(next.length / 2);
        pending.unshift(next.slice(0, batchLimit), next.slice(batchLimit));
      }
    }
  }
  return result([]);
}

function checkSizes(sink: Sink, events: readonly WrittenEvent[]) {
  const { recordBytes } = sink.limits;
  const dead: UndeliverableEvent[] = [];
  const sizes: number[] = [];
  const fitting = events.filter((event) => {
    const size = sink.sizeOf(event);
    if (size <= recordBytes) return sizes.push(size);
    dead.push({ event, code: 'TooLarge', message: `it has ${size} bytes, and the target takes ${recordBytes}` });
    return false;
  });
  return { fitting, sizes, dead };
}

function requestsOf(
  sink: Sink,
  events: readonly WrittenEvent[],
  sizes: readonly number[],
  batchLimit = Number.POSITIVE_INFINITY,
): WrittenEvent[][] {
  const { records, bytes } = sink.limits;
  const requests: WrittenEvent[][] = [];
  let current: WrittenEvent[] = [];
  let sum = 0;
  for (const [place, event] of events.entries()) {
    const size = sizes[place] ?? 0;
    if (current.length > 0 && (current.length >= Math.min(records, batchLimit) || sum + size > bytes)) {
      requests.push(current);
      [current, sum] = [[], 0];
    }
    current.push(event);
    sum += size;
  }
  if (current.length > 0) requests.push(current);
  return requests;
}

/** Sorts the events of an answered request by what the target did with them. */
function outcomeOf(events: readonly WrittenEvent[], rejections: Awaited<ReturnType<Sink['put']>>) {
  if (rejections.length === 0)
    return { accepted: events, unnamedRejections: 0, retried: [], dead: [], failure: undefined };
  const rejected = new Map<number, Rejection>();
  let unnamedRejections = 0;
  for (const rejection of rejections) {
    if (rejection.fate === 'unnamed') unnamedRejections += rejection.count;
    else rejected.set(rejection.index, rejection);
  }
  const accepted: WrittenEvent[] = [];
  const retried: WrittenEvent[] = [];
  const dead: UndeliverableEvent[] = [];
  let failure: SinkError | undefined;
  for (const [index, event] of events.entries()) {
    const rejection = rejected.get(index);
    if (!rejection) accepted.push(event);
    else if (rejection.fate === 'refused') {
      dead.push({ event, code: rejection.code, message: rejection.message });
    } else {
      retried.push(event);
      failure ??= new SinkError('retry', rejection);
    }
  }
  return { accepted, unnamedRejections, retried, dead, failure };
}

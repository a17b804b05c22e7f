// Sends events in their order, in as many requests as the sink's limits ask for, one after the other. Which events are
// given up, and which are left for the next time, is decided here and nowhere else.

import type { WrittenEvent } from '../event.ts';
import { type Rejection, type Sink, SinkError } from '../sinks/sink.ts';
import type { UndeliverableEvent } from './destination-queue.ts';
import { asSinkError, putWithin, type RequestOptions } from './request.ts';

export interface SendOptions extends RequestOptions {
  /** Asked before each request. */
  mayGoOn(): boolean;
  /** Events of one request at most, where the sink's limit is known to be too many: `Sent.most` of the time before. */
  most?: number | undefined;
}

export interface Sent {
  /** What was not sent or not taken, in order: to be sent first the next time. */
  left: readonly WrittenEvent[];
  dead: readonly UndeliverableEvent[];
  /** What targets took, with what they refused without saying which it was. */
  delivered: readonly WrittenEvent[];
  /** How many of the delivered were refused so. */
  unnamedRejections: number;
  /** Why it stopped; undefined when all were sent, or there was no more time. */
  failure: SinkError | undefined;
  requests: number;
  /** Requests that were split. */
  splits: number;
  /**
   * What to begin with the next time, when time was over in the middle of splitting a request and nothing was achieved:
   * otherwise splitting would begin from the start, for ever.
   */
  most: number | undefined;
}

/**
 * Sends events until all are sent, something fails or there is no more time. Failures of the kind `config` and `retry`
 * leave events for later; only what the target refuses by itself is given up.
 */
export async function sendAll(sink: Sink, events: readonly WrittenEvent[], options: SendOptions): Promise<Sent> {
  const { fitting, dead } = checkSizes(sink, events);
  const waiting = requestsOf(sink, fitting, options.most);
  const delivered: WrittenEvent[] = [];
  let [requests, splits, unnamedRejections] = [0, 0, 0];
  let { most } = options;
  const end = (left: readonly WrittenEvent[], failure?: SinkError): Sent => {
    return { left, dead, delivered, failure, requests, splits, most, unnamedRejections };
  };

  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const left = () => [next, ...waiting].flat();
    if (options.signal.aborted || !options.mayGoOn()) return end(left());
    requests++;
    try {
      const outcome = outcomeOf(next, await putWithin(sink, next, options));
      most = undefined;
      delivered.push(...outcome.taken);
      unnamedRejections += outcome.unnamed;
      dead.push(...outcome.dead);
      if (outcome.failure) return end([...outcome.again, ...waiting.flat()], outcome.failure);
    } catch (error) {
      const failure = asSinkError(error);
      if (options.signal.aborted) return end(left());
      if (failure.kind !== 'split') return end(left(), failure);
      splits++;
      const [event] = next;
      if (event && next.length === 1) {
        dead.push({ event, code: failure.code, message: failure.message });
        most = undefined;
      } else {
        most = Math.ceil(next.length / 2);
        waiting.unshift(next.slice(0, most), next.slice(most));
      }
    }
  }
  return end([]);
}

function checkSizes(sink: Sink, events: readonly WrittenEvent[]) {
  const { recordBytes } = sink.limits;
  const dead: UndeliverableEvent[] = [];
  const fitting = events.filter((event) => {
    const size = sink.sizeOf(event);
    if (size <= recordBytes) return true;
    dead.push({ event, code: 'TooLarge', message: `it has ${size} bytes, and the target takes ${recordBytes}` });
    return false;
  });
  return { fitting, dead };
}

function requestsOf(sink: Sink, events: readonly WrittenEvent[], most = Number.POSITIVE_INFINITY): WrittenEvent[][] {
  const { records, bytes } = sink.limits;
  const requests: WrittenEvent[][] = [];
  let current: WrittenEvent[] = [];
  let sum = 0;
  for (const event of events) {
    const size = sink.sizeOf(event);
    if (current.length > 0 && (current.length >= Math.min(records, most) || sum + size > bytes)) {
      requests.push(current);
      [current, sum] = [[], 0];
    }
    current.push(event);
    sum += size;
  }
  if (current.length > 0) requests.push(current);
  return requests;
}

/** What became of the events of a request that was answered. */
function outcomeOf(events: readonly WrittenEvent[], rejections: Awaited<ReturnType<Sink['put']>>) {
  const rejected = new Map<number, Rejection>();
  let unnamed = 0;
  for (const rejection of rejections) {
    if (rejection.fate === 'unnamed') unnamed += rejection.count;
    else rejected.set(rejection.index, rejection);
  }
  const taken: WrittenEvent[] = [];
  const again: WrittenEvent[] = [];
  const dead: UndeliverableEvent[] = [];
  let failure: SinkError | undefined;
  for (const [index, event] of events.entries()) {
    const rejection = rejected.get(index);
    if (!rejection) taken.push(event);
    else if (rejection.fate === 'refused') {
      dead.push({ event, code: rejection.code, message: rejection.message });
    } else {
      again.push(event);
      failure ??= new SinkError('retry', rejection);
    }
  }
  return { taken, unnamed, again, dead, failure };
}

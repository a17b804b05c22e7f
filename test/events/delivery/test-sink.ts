// Sinks whose answers a test decides. Everything around them is real.

import { readWritten, writeEvent } from '../../../src/events/event.ts';
import {
  type FailureKind,
  type Rejection,
  type RequestLimits,
  type Sink,
  SinkError,
} from '../../../src/events/sinks/sink.ts';
import type { WrittenEvent } from '../../../src/events/written-event.ts';

export type Answer = (events: readonly WrittenEvent[], signal: AbortSignal) => Promise<readonly Rejection[]>;

export interface TestSink extends Sink {
  /** The ids of every request, in order. */
  requests: string[][];
  /** Those that were taken, in order. */
  taken: string[];
  answer: Answer;
  isClosed: boolean;
}

/** A sink that takes everything, until `answer` is changed. */
export function testSink(limits: Partial<RequestLimits> = {}, sizeOf = (_: WrittenEvent) => 1): TestSink {
  const sink: TestSink = {
    limits: { records: 500, bytes: 1_000_000, recordBytes: 1_000_000, ...limits },
    sizeOf,
    requests: [],
    taken: [],
    isClosed: false,
    answer: async () => [],
    async put(events, signal) {
      sink.requests.push(events.map(({ id }) => id));
      const rejections = await sink.answer(events, signal);
      const rejected = new Set(rejections.map(({ index }) => index));
      sink.taken.push(...events.flatMap(({ id }, index) => (rejected.has(index) ? [] : id)));
      return rejections;
    },
    close() {
      sink.isClosed = true;
    },
  };
  return sink;
}

export function failing(kind: FailureKind, retryAfter?: number): Answer {
  return async () => {
    throw new SinkError(kind, { code: `Test${kind}`, message: `it failed: ${kind}` }, retryAfter);
  };
}

/** An event of its own id. */
export function event(id: string): WrittenEvent {
  return readWritten(
    writeEvent({ id, type: 'domain_created.v0', at: 0, accountId: 'ac_1', principal: null, object: {} }),
  );
}

export const events = (count: number) => Array.from({ length: count }, (_, n) => event(`ev_${n}`));

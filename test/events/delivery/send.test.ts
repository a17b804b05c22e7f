// The requests of one call of `sendAll`: their sizes and order, and what happens to events that were not accepted.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SendOptions, type SendResult, sendAll } from '../../../src/events/delivery/send.ts';
import { deliverTestEvent } from '../../../src/events/delivery/test-delivery.ts';
import { SinkError } from '../../../src/events/sinks/sink.ts';
import { event, events, failing, testSink } from './test-sink.ts';

const SEED = Number(process.env.PROPERTY_SEED ?? 20261121);
const never = () => new Promise<never>(() => {});

const options = (more: Partial<SendOptions> = {}): SendOptions => ({
  timeoutMs: 5000,
  signal: new AbortController().signal,
  mayContinue: () => true,
  ...more,
});
const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
const shown = ({ remaining, dead, delivered }: SendResult) => ({
  remaining: ids(remaining),
  dead: dead.map((one) => one.event.id),
  delivered: ids(delivered),
});

test('events go in their order, in requests within the limits', async () => {
  const sink = testSink({ records: 4, bytes: 10 }, ({ id }) => id.length);
  const sizes = ['1', '22', '333', '4444', '55555', '6', '7', '8', '9'].map(event);
  expect(shown(await sendAll(sink, sizes, options()))).toMatchObject({ remaining: [], dead: [] });
  expect(sink.requests).toEqual([['1', '22', '333', '4444'], ['55555', '6', '7', '8'], ['9']]);
});

test('an event that is too large for the target becomes a dead letter without a request', async () => {
  const sink = testSink({ recordBytes: 5 }, ({ id }) => id.length);
  const sent = await sendAll(sink, ['a', 'bbbbbb', 'c'].map(event), options());
  expect(shown(sent)).toEqual({ remaining: [], dead: ['bbbbbb'], delivered: ['a', 'c'] });
  expect(sent.dead).toMatchObject([{ code: 'TooLarge', message: 'it has 6 bytes, and the target takes 5' }]);
});

test.each(['retry', 'config'] as const)('a failure (%s) stops everything and gives nothing up', async (kind) => {
  const sink = testSink({ records: 2 });
  sink.answer = async (...request) => (sink.requests.length === 2 ? failing(kind)(...request) : []);
  const sent = await sendAll(sink, events(6), options());
  expect(shown(sent)).toEqual({ remaining: ['ev_2', 'ev_3', 'ev_4', 'ev_5'], dead: [], delivered: ['ev_0', 'ev_1'] });
  expect(sent.failure).toMatchObject({ kind, code: `Test${kind}` });
  expect(sent).toMatchObject({ requests: 2, splits: 0 });
});

test('after a request that is accepted in part, the rest is sent first the next time', async () => {
  const sink = testSink({ records: 4 });
  sink.answer = async () => [
    { index: 3, fate: 'retry', code: 'Throttled', message: 'slower' },
    { index: 1, fate: 'retry', code: 'Throttled', message: 'slower' },
    { index: 2, fate: 'refused', code: 'Bad', message: 'never' },
  ];
  const sent = await sendAll(sink, events(6), options());
  expect(shown(sent)).toEqual({ remaining: ['ev_1', 'ev_3', 'ev_4', 'ev_5'], dead: ['ev_2'], delivered: ['ev_0'] });
  expect(sent.failure).toMatchObject({ kind: 'retry', code: 'Throttled' });
});

test('a request with some permanently rejected events does not count as a failure', async () => {
  const sink = testSink({ records: 2 });
  sink.answer = async () => [{ index: 0, fate: 'refused', code: 'TooOld', message: 'two weeks' }];
  const sent = await sendAll(sink, events(4), options());
  expect(shown(sent)).toEqual({ remaining: [], dead: ['ev_0', 'ev_2'], delivered: ['ev_1', 'ev_3'] });
  expect(sent.failure).toBeUndefined();
});

test('an event that fails its request is found by splitting; the others are delivered in their order', async () => {
  const sink = testSink();
  sink.answer = (batch, ...rest) => (ids(batch).includes('ev_5') ? failing('split')(batch, ...rest) : noRejections());
  const sent = await sendAll(sink, events(16), options());
  expect(shown(sent)).toEqual({
    remaining: [],
    dead: ['ev_5'],
    delivered: ids(events(16)).filter((id) => id !== 'ev_5'),
  });
  expect(sent.dead).toMatchObject([{ code: 'Testsplit' }]);
  expect(sent.requests).toBeLessThan(10);
});
const noRejections = async () => [];

test('a call continues the splitting that the call before had no time to finish', async () => {
  const sink = testSink();
  sink.answer = (batch, ...rest) => (ids(batch).includes('ev_0') ? failing('split')(batch, ...rest) : noRejections());
  let remaining: SendResult['remaining'] = events(100);
  let batchLimit: number | undefined;
  let calls = 0;
  while (remaining.length > 0) {
    let requests = 0;
    const sent = await sendAll(sink, remaining, options({ batchLimit, mayContinue: () => requests++ < 2 }));
    ({ remaining, batchLimit } = sent);
    expect(calls++).toBeLessThan(60);
    if (sent.dead.length > 0) break;
  }
  expect(calls).toBe(4);
});

test('a request ends at its timeout, and when its signal is aborted, even if the sink ignores both', async () => {
  const sink = testSink({ records: 1 });
  sink.answer = never;
  const late = await sendAll(sink, events(2), options({ timeoutMs: 5 }));
  expect(late).toMatchObject({ remaining: events(2), failure: { kind: 'retry', code: 'Timeout' }, requests: 1 });
  const ending = new AbortController();
  sink.answer = () => {
    ending.abort();
    return never();
  };
  const ended = await sendAll(sink, events(2), options({ signal: ending.signal }));
  expect(ended).toMatchObject({ remaining: events(2), failure: undefined });
});

test('unknown exceptions are retried', async () => {
  const sink = testSink();
  sink.answer = () => Promise.reject(Object.assign(new Error('read\n failed'), { code: 'ECONNRESET' }));
  const { failure } = await sendAll(sink, events(1), options());
  expect(failure).toMatchObject({ kind: 'retry', code: 'ECONNRESET', message: 'read failed' });
});

test('whatever the target answers, every event is delivered, dead or remaining, once and in order', async () => {
  const fate = fc.constantFrom('taken', 'taken', 'refused', 'retry' as const);
  const answer = fc.oneof(
    { weight: 3, arbitrary: fc.array(fate, { maxLength: 5 }) },
    { weight: 2, arbitrary: fc.constant('split' as const) },
    { weight: 1, arbitrary: fc.constantFrom('retry' as const, 'config' as const) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 30 }),
      fc.integer({ min: 1, max: 8 }),
      fc.array(answer, { maxLength: 12 }),
      fc.nat({ max: 20 }),
      async (count, records, script, requests) => {
        const sink = testSink({ records });
        sink.answer = async (batch) => {
          const next = script.shift() ?? [];
          if (typeof next === 'string') throw new SinkError(next, { code: next, message: '' });
          return next.flatMap((what, index) =>
            what === 'taken' || index >= batch.length ? [] : { index, fate: what, code: what, message: '' },
          ) as never;
        };
        const sent = await sendAll(sink, events(count), options({ mayContinue: () => requests-- > 0 }));
        const { remaining, dead, delivered } = shown(sent);
        const order = (id: string) => Number(id.slice(3));
        const isInOrder = (list: string[]) =>
          list.every((id, n) => n === 0 || order(list[n - 1] as string) < order(id));
        expect(isInOrder(remaining) && isInOrder(delivered)).toBe(true);
        expect([...remaining, ...dead, ...delivered].sort()).toEqual(ids(events(count)).sort());
        expect(delivered).toEqual(sink.taken);
        expect(sink.requests.every((request) => request.length <= records)).toBe(true);
      },
    ),
    { seed: SEED, numRuns: 300 },
  );
});

test('a test delivery reports its result and its duration', async () => {
  const sink = testSink({ recordBytes: 10 });
  let time = 0;
  const now = () => (time += 7);
  const trial = (of = sink) => deliverTestEvent(of, event('ev_0'), { timeoutMs: 5, now });
  expect(await trial()).toEqual({ ok: true, latencyMs: 7 });
  for (const kind of ['retry', 'config', 'split'] as const) {
    sink.answer = failing(kind);
    const reason = { code: `Test${kind}`, message: `it failed: ${kind}` };
    expect(await trial()).toEqual({ ok: false, latencyMs: 7, reason });
  }
  sink.answer = async () => [{ index: 0, fate: 'retry', code: 'Throttled', message: 'slower' }];
  expect(await trial()).toMatchObject({ ok: false, reason: { code: 'Throttled', message: 'slower' } });
  sink.answer = never;
  expect(await trial()).toMatchObject({ ok: false, reason: { code: 'Timeout' } });
  expect(await trial(testSink({ recordBytes: 0 }))).toMatchObject({ ok: false, reason: { code: 'TooLarge' } });
});

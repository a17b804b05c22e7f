import { EventEmitter, once } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWritten } from '../../../src/events/event.ts';
import { trafficObjects } from '../../../src/events/traffic/gateway-objects.ts';
import type { TrafficSource } from '../../../src/events/traffic/store.ts';
import { TrafficSubscribers } from '../../../src/events/traffic/subscribers.ts';
import { accountId, clock, connectionReport, recorded, requestReport, source } from './support.ts';

const TCP = 'tcp_connection_closed.v0';
const METHOD = 'http.request.method';
const PORT = 'conn.server_port';

test('an event has the envelope of all events, without a principal', async () => {
  const { recorder, events } = await recorded([source({ fields: [METHOD] }), source({ type: TCP, fields: [PORT] })]);
  recorder.request(requestReport());
  recorder.connection(connectionReport());
  const head = { event_timestamp: '2026-11-21T09:00:04Z', account_id: accountId, principal: null };
  expect(events.map(({ text }) => JSON.parse(text))).toEqual([
    {
      ...{ event_id: 'ev_1', event_type: 'http_request_complete.v0', ...head },
      object: { http: { request: { method: 'GET' } } },
    },
    { event_id: 'ev_2', event_type: TCP, ...head, object: { conn: { server_port: 443 } } },
  ]);
  for (const { text } of events) {
    expect(text).not.toContain('\n');
    expect(readWritten(text).text).toBe(text);
  }
});

test('reports wait 20 ms for more, in their order; a flush, or 4,096 of them, are not waited with', async () => {
  const { schedule, pass } = clock();
  const { recorder, events } = await recorded([source({ fields: [METHOD] })], Math.random, schedule);
  const report = requestReport();
  const tell = (times: number) => {
    for (let n = 0; n < times; n++) recorder.request(report);
  };
  tell(2);
  pass(19);
  expect(events).toEqual([]);
  pass(1);
  expect(events.map(({ text }) => readWritten(text).id)).toEqual(['ev_1', 'ev_2']);
  tell(1);
  recorder.flush();
  expect(events.length).toBe(3);
  tell(4095);
  expect(events.length).toBe(3);
  tell(1);
  expect(events.length).toBe(3 + 4096);
  tell(1);
  pass(20);
  expect(events.length).toBe(3 + 4097);
});

test('a report that waits goes to those who had subscribed when it came', async () => {
  const { schedule, pass } = clock();
  const sources = [source({ fields: [METHOD] })];
  const { recorder, audience, events } = await recorded(sources, Math.random, schedule);
  recorder.request(requestReport());
  sources.length = 0;
  await audience.refresh();
  recorder.request(requestReport());
  pass(20);
  expect(events.map(({ to }) => to)).toEqual(['ed_1']);
});

test('an event that cannot be written is reported, and keeps no other from being written', async () => {
  const { recorder, events, failures } = await recorded([source({ fields: [METHOD] })]);
  const broken = new Error('no method');
  const request = Object.defineProperty({ ...requestReport().request }, 'method', {
    get: () => {
      throw broken;
    },
  });
  recorder.request(requestReport({ request }));
  recorder.request(requestReport());
  expect(failures).toEqual([broken]);
  expect(events.length).toBe(1);
});

test('only accounts that somebody listens to are heard, and only what they listen to', async () => {
  const { recorder, counters, events } = await recorded([source({ type: TCP }), source({ destinationIds: [] })]);
  expect(recorder.wantsConnections(accountId)).toBe(true);
  expect(recorder.wantsRequests(accountId)).toBe(false);
  expect(recorder.wantsConnections('ac_other')).toBe(false);
  recorder.request(requestReport());
  recorder.connection(connectionReport({ accountId: 'ac_other' }));
  expect(events).toEqual([]);
  expect(counters.reported).toBe(0);
});

test('an event has one id wherever it goes, and goes to a destination once, with all that was selected for it', async () => {
  const { recorder, events } = await recorded([
    source({ fields: [METHOD], destinationIds: ['ed_1', 'ed_2'] }),
    source({ fields: [PORT], filter: 'ev.conn.server_port == 443', destinationIds: ['ed_2', 'ed_3'] }),
    source({ fields: [PORT, METHOD], destinationIds: ['ed_4'] }),
    source({ destinationIds: ['ed_5'] }),
    source({ fields: [PORT], destinationIds: ['ed_5'] }),
    source({ filter: 'false', destinationIds: ['ed_1', 'ed_6'] }),
  ]);
  recorder.request(requestReport());
  const [method, port] = [{ http: { request: { method: 'GET' } } }, { conn: { server_port: 443 } }];
  const objects = Object.fromEntries(events.map(({ to, text }) => [to, JSON.parse(text).object]));
  expect(events.length).toBe(5);
  expect(objects).toMatchObject({
    ed_1: method,
    ed_2: { ...port, ...method },
    ed_3: port,
    ed_4: { ...port, ...method },
  });
  expect(Object.keys(objects.ed_5).length).toBe(12);
  expect(Object.keys(objects.ed_1)).toEqual(['http']);
  expect(new Set(events.map(({ text }) => readWritten(text).id))).toEqual(new Set(['ev_1']));
  // What is the same is written once.
  const texts = new Map(events.map(({ to, text }) => [to, text]));
  expect(texts.get('ed_2')).toBe(texts.get('ed_4'));
});

test('a share is chosen at random: about so many, and what is in a smaller share is in a larger one', async () => {
  const rates = { ed_01: 0.01, ed_10: 0.1, ed_50: 0.5, ed_all: 1 };
  const sources = Object.entries(rates).map(([id, sampleRate]) =>
    source({ sampleRate, fields: [METHOD], destinationIds: [id] }),
  );
  const { recorder, counters, events } = await recorded(sources);
  const count = 20_000;
  const report = requestReport();
  for (let n = 0; n < count; n++) recorder.request(report);
  const idsOf = (id: string) => new Set(events.filter(({ to }) => to === id).map(({ text }) => readWritten(text).id));
  for (const [id, rate] of Object.entries(rates)) {
    const deviation = Math.sqrt(count * rate * (1 - rate));
    expect(Math.abs(idsOf(id).size - count * rate)).toBeLessThanOrEqual(6 * deviation);
  }
  const isWithin = (less: string, more: string) => [...idsOf(less)].every(Set.prototype.has, idsOf(more));
  expect([isWithin('ed_01', 'ed_10'), isWithin('ed_10', 'ed_50'), isWithin('ed_50', 'ed_10')]).toEqual([
    true,
    true,
    false,
  ]);
  expect(counters.sampledOut + events.length).toBe(4 * count);
});

test('a lot decides for each source by itself, exactly', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.double({ min: 0, max: 1, minExcluded: true, noNaN: true }), { minLength: 1, maxLength: 40 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      async (rates, lot) => {
        const sources = rates.map((sampleRate, n) => source({ sampleRate, destinationIds: [`ed_${n}`] }));
        const { recorder, events } = await recorded(sources, () => lot);
        recorder.request(requestReport());
        const wanted = rates.flatMap((rate, n) => (lot < rate ? `ed_${n}` : []));
        expect(events.map(({ to }) => to).sort()).toEqual(wanted.sort());
      },
    ),
    { numRuns: 50 },
  );
});

/** A store whose sources change, and that may be away. */
function changing() {
  const events = new EventEmitter();
  const state = { sources: [] as TrafficSource[], failure: undefined as Error | undefined, loads: 0 };
  const store = {
    async sources() {
      state.loads++;
      events.emit('load');
      if (state.failure) throw state.failure;
      return [...state.sources];
    },
    onSourcesChange(listener: () => void) {
      events.on('change', listener);
      return () => void events.off('change', listener);
    },
  };
  return { state, store, events };
}

test('changes are heard of; a refresh is over when they are known', async () => {
  const { state, store, events } = changing();
  const failures: unknown[] = [];
  const audience = new TrafficSubscribers({
    store,
    objects: trafficObjects,
    onFailure: (error) => failures.push(error),
    retryMs: 1,
  });
  await audience.refresh();
  expect(audience.ofRequests(accountId)).toBeUndefined();
  state.sources = [source()];
  await audience.refresh();
  expect(audience.ofRequests(accountId)).toBeDefined();

  // Asked for many times at once, it is done once, or once more.
  const before = state.loads;
  for (let n = 0; n < 50; n++) events.emit('change');
  await audience.refresh();
  expect(state.loads - before).toBeLessThanOrEqual(2);

  // What fails is tried again, and what was known holds meanwhile.
  state.failure = new Error('away');
  state.sources = [];
  const known = audience.refresh();
  for (let n = 0; n < 3; n++) await once(events, 'load');
  expect(audience.ofRequests(accountId)).toBeDefined();
  expect(failures).toEqual([state.failure]);
  state.failure = undefined;
  await known;
  expect(audience.ofRequests(accountId)).toBeUndefined();

  audience.close();
  expect(events.listenerCount('change')).toBe(0);
});

// How much is captured, for how long, and whose: bounds that hold whatever comes.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { withCaptures } from '../../../src/capture/captures.ts';
import { redactedFields } from '../../../src/capture/redaction.ts';
import { reportOf } from '../../support/events/synthetic-report.ts';
import { ACCOUNT, Hearer } from '../reports/lab.ts';
import { CaptureLab, HOLD_MS } from './lab.ts';

const MIB = 1024 * 1024;
const MINUTE = 60_000;
const BYTES = Buffer.alloc(MIB, 'x');
let lab: CaptureLab;
beforeEach(() => {
  lab = new CaptureLab();
});
afterEach(() => lab.captures.close());

/** A request that has begun, with so many bytes of bodies. @returns what ends it. */
function begin(endpointId: string, n: number, bodyBytes = 0): () => void {
  const detail = lab.observe(endpointId);
  detail?.request?.take(BYTES.subarray(0, Math.ceil(bodyBytes / 2)));
  detail?.response?.take(BYTES.subarray(0, Math.floor(bodyBytes / 2)));
  return () => lab.captures.take({ ...reportOf(ACCOUNT, n), endpointId, observer: detail });
}

const pass = (endpointId: string, n: number, bodyBytes?: number) => begin(endpointId, n, bodyBytes)();
const pathsOf = (endpointId: string) =>
  lab.list(endpointId).map(({ target }) => Number(target.slice(1).replace(/\?.*/, '')));
/** From one number down to another. */
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);
const bytesOf = (endpointIds: string[]) => endpointIds.reduce((sum, id) => sum + lab.state(id).keptBytes, 0);

describe('how much is kept', () => {
  test('the newest 200 requests of an endpoint, the newest first', () => {
    lab.start('ep_1');
    for (let n = 1; n <= 450; n++) pass('ep_1', n);
    expect(pathsOf('ep_1')).toEqual(down(450, 251));
    expect(lab.state('ep_1')).toMatchObject({ kept: 200, passed: 450, forgotten: 250 });
    const ids = lab.list('ep_1').map(({ id }) => id);
    expect(ids.toSorted().reverse()).toEqual(ids);
  });

  test('8 MiB of an endpoint', () => {
    lab.start('ep_1', { bodyBytes: MIB });
    for (let n = 1; n <= 50; n++) {
      pass('ep_1', n, 2 * MIB);
      expect(lab.state('ep_1').keptBytes).toBeLessThanOrEqual(8 * MIB);
    }
    expect(pathsOf('ep_1')).toEqual([50, 49, 48]);
    pass('ep_1', 51, 10);
    expect(lab.state('ep_1').kept).toBe(4);
  });

  test('64 MiB of all endpoints: the oldest of all go first', () => {
    const ids = down(20, 1).map((n) => `ep_${n}`);
    for (const id of ids) lab.start(id, { bodyBytes: MIB });
    for (let n = 1; n <= 5; n++)
      for (const id of ids) {
        pass(id, n, 2 * MIB);
        expect(bytesOf(ids)).toBeLessThanOrEqual(64 * MIB);
      }
    expect(bytesOf(ids)).toBeGreaterThan(61 * MIB);
    // 100 came, 31 fit: those of the last round and half of the one before.
    expect(ids.map(pathsOf)).toEqual(ids.map((_, i) => (i < 9 ? [5] : [5, 4])));
  });

  test('bodies under way count, too: those for which there is no room are kept in part, and give it back', () => {
    lab.start('ep_1', { bodyBytes: MIB });
    const ends = down(20, 1).map((n) => begin('ep_1', n, 2 * MIB));
    for (const end of ends) end();
    const bodies = lab.list('ep_1').flatMap(({ requestBody, responseBody }) => [requestBody, responseBody]);
    const bytes = bodies.reduce((sum, { kept }) => sum + kept.length, 0);
    expect(bytes).toBeLessThanOrEqual(8 * MIB);
    expect(bytes).toBeGreaterThanOrEqual(5.9 * MIB);
    expect(lab.state('ep_1').keptBytes).toBeLessThanOrEqual(8 * MIB);
    for (let round = 0; round < 20; round++) {
      for (const end of down(10, 1).map((n) => begin('ep_1', n, MIB / 2))) end();
      expect(lab.list('ep_1')[0]?.requestBody.kept).toHaveLength(MIB / 4);
    }
  });

  test('an account that captures much takes nothing of one that has less, until both have the same', () => {
    const [few, many] = [['ep_few'], down(40, 1).map((n) => `ep_${n}`)];
    lab.start('ep_few', { bodyBytes: MIB }, 'ac_other');
    for (const id of many) lab.start(id, { bodyBytes: MIB });
    for (let n = 1; n <= 3; n++) pass('ep_few', n, 2 * MIB);
    for (let n = 1; n <= 5; n++) for (const id of many) pass(id, n, 2 * MIB);
    expect(pathsOf('ep_few')).toEqual([3, 2, 1]);
    expect(bytesOf([...few, ...many])).toBeLessThanOrEqual(64 * MIB);
    expect(bytesOf(many)).toBeGreaterThan(55 * MIB);
    const more = down(10, 1).map((n) => `ep_more_${n}`);
    for (const id of more) lab.start(id, { bodyBytes: MIB }, 'ac_other');
    for (let n = 1; n <= 4; n++) for (const id of more) pass(id, n, 2 * MIB);
    for (let n = 6; n <= 9; n++) for (const id of many) pass(id, n, 2 * MIB);
    for (const share of [bytesOf([...few, ...more]), bytesOf(many)]) {
      expect(share).toBeGreaterThan(29 * MIB);
      expect(share).toBeLessThanOrEqual(35 * MIB);
    }
  });

  test('an account whose bodies are under way for ever leaves the others room for theirs', () => {
    const many = down(40, 1).map((n) => `ep_${n}`);
    for (const id of many) lab.start(id, { bodyBytes: MIB });
    const ends = many.flatMap((id) => down(4, 1).map((n) => begin(id, n, 2 * MIB)));
    lab.start('ep_few', { bodyBytes: MIB }, 'ac_other');
    for (let n = 1; n <= 3; n++) pass('ep_few', n, 2 * MIB);
    for (const { requestBody } of lab.list('ep_few')) expect(requestBody.kept).toHaveLength(MIB);
    for (const end of ends) end();
    expect(pathsOf('ep_few')).toEqual([3, 2, 1]);
    expect(bytesOf(many)).toBeLessThan(17 * MIB);
  });

  test('what is switched off while it is under way is not kept, and takes no room', () => {
    for (let round = 0; round < 40; round++) {
      lab.start('ep_1', { bodyBytes: MIB });
      const ends = [begin('ep_1', 1, 2 * MIB), begin('ep_1', 2, 2 * MIB)];
      lab.stop('ep_1');
      for (const end of ends) end();
      expect(pathsOf('ep_1')).toEqual([]);
    }
    lab.start('ep_1', { bodyBytes: MIB });
    pass('ep_1', 3, 2 * MIB);
    expect(lab.list('ep_1')[0]?.responseBody.kept).toHaveLength(MIB);
  });
});

describe('how long', () => {
  test('until it switches itself off; what is kept stays', () => {
    lab.start('ep_1', { minutes: 2 });
    pass('ep_1', 1);
    lab.now += 2 * MINUTE - 1;
    pass('ep_1', 2);
    lab.now += 1;
    expect(lab.state('ep_1').isOn).toBe(false);
    pass('ep_1', 3);
    lab.captures.sweep();
    expect(lab.has('ep_1')).toBe(false);
    expect(pathsOf('ep_1')).toEqual([2, 1]);
  });

  test('also while nothing serves the address', () => {
    lab.start('ep_1');
    pass('ep_1', 1);
    lab.live.delete('ep_1');
    lab.now += 2 * HOLD_MS;
    lab.captures.sweep();
    lab.live.add('ep_1');
    pass('ep_1', 2);
    expect(pathsOf('ep_1')).toEqual([2, 1]);
  });

  test('once it is off, until the address has been offline for a while', () => {
    lab.start('ep_1');
    pass('ep_1', 1);
    pass('ep_1', 2);
    lab.stop('ep_1');
    lab.live.delete('ep_1');
    lab.captures.sweep();
    lab.now += HOLD_MS - 1;
    lab.captures.sweep();
    lab.live.add('ep_1');
    lab.captures.sweep();
    expect(pathsOf('ep_1')).toEqual([2, 1]);
    lab.live.delete('ep_1');
    lab.captures.sweep();
    const { id } = lab.last('ep_1');
    lab.now += HOLD_MS;
    lab.captures.sweep();
    expect(lab.state('ep_1')).toMatchObject({ isOn: false, kept: 0, keptBytes: 0 });
    expect(lab.has('ep_1')).toBe(false);
    expect(lab.captures.get(id)).toBeUndefined();
  });

  test('to stop keeps, to start again forgets, to change what is on keeps', () => {
    lab.start('ep_1');
    pass('ep_1', 1);
    lab.start('ep_1', { bodyBytes: 5 });
    expect(pathsOf('ep_1')).toEqual([1]);
    lab.stop('ep_1');
    pass('ep_1', 2);
    expect(pathsOf('ep_1')).toEqual([1]);
    lab.start('ep_1');
    expect(lab.state('ep_1')).toMatchObject({ isOn: true, kept: 0, passed: 0, forgotten: 0 });
    pass('ep_1', 3);
    lab.captures.clear(lab.target('ep_1'));
    expect(lab.state('ep_1')).toMatchObject({ isOn: true, kept: 0, keptBytes: 0, passed: 1 });
  });
});

test('a value that was not to be shown when it came is never shown, and one that is not to be shown now neither', () => {
  const values = () =>
    redactedFields(lab.last('ep_1').requestFields, lab.last('ep_1').redacted, true)
      .filter(({ isRedacted }) => isRedacted)
      .map(({ name, value }) => [name, value]);
  lab.start('ep_1', { redactHeaders: ['USER-agent'] });
  pass('ep_1', 1);
  expect(values()).toEqual([
    ['User-Agent', ''],
    ['Cookie', ''],
  ]);
  lab.start('ep_1', { redactHeaders: ['accept'] });
  expect(values()).toEqual([
    ['User-Agent', ''],
    ['Accept', ''],
    ['Cookie', ''],
  ]);
});

test('what is kept of names that are not to be shown are those of its own fields, however many others there were', () => {
  lab.start('ep_1');
  pass('ep_1', 1);
  for (let n = 0; n < 50; n++) {
    const others = Array.from({ length: 100 }, (_, i) => `x-${n}-${i}`);
    lab.start('ep_1', { redactHeaders: ['accept', ...others] });
    pass('ep_1', n + 2);
  }
  for (const { redacted } of lab.list('ep_1')) expect([...redacted].toSorted()).toEqual(['accept', 'cookie']);
  expect(lab.state('ep_1').redacted.size).toBe(106);
});

test('each of two who hear of traffic hears what it wants, and nothing for the other', () => {
  const events = new Hearer();
  const both = withCaptures(events, lab.captures);
  lab.start('ep_1');
  const endpoint = { accountId: ACCOUNT, proto: 'http', hostname: 'ep_1', port: 80 } as const;
  expect(both.wantsRequests(ACCOUNT)).toBe(true);
  expect(both.observe?.({ ...endpoint, hostname: 'ep_2' })).toBeUndefined();
  expect(both.observe?.({ ...endpoint, proto: 'https' })).toBeUndefined();
  expect(both.observe?.({ ...endpoint, accountId: 'ac_other' })).toBeUndefined();
  both.request({ ...reportOf(ACCOUNT, 1), endpointId: 'ep_2' });
  expect(events.requests.splice(0)).toHaveLength(1);
  events.account = undefined;
  expect(both.wantsRequests(ACCOUNT)).toBe(false);
  both.request({ ...reportOf(ACCOUNT, 2), endpointId: 'ep_1', observer: both.observe?.(endpoint) });
  expect(events.requests).toEqual([]);
  expect(pathsOf('ep_1')).toEqual([2]);
  expect(lab.state('ep_2')).toMatchObject({ kept: 0, passed: 0 });
});

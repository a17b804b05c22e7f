import { expect, test } from 'vitest';
import {
  reconnectDelay,
  refusedSessionDelay,
  refusedTunnelDelay,
  replacedDelay,
} from '../../../agent/src/client/backoff.ts';
import { parseRefusal } from '../../../agent/src/client/gateway-refusal.ts';
import { DEFAULT_TIMING } from '../../../agent/src/client/timing.ts';
import { readUpstream } from '../../../agent/src/client/upstream.ts';

const at = (random: number) => ({ ...DEFAULT_TIMING, random: () => random });
const nth = [1, 2, 3, 4, 5, 6, 7, 100, 5000];

test('while the last session is recent, the wait grows to 2 s; after that to 15 s', () => {
  const recent = nth.map((failures) => reconnectDelay(failures, 59_999, at(1)));
  expect(recent).toEqual([500, 1000, 2000, 2000, 2000, 2000, 2000, 2000, 2000]);
  const later = nth.map((failures) => reconnectDelay(failures, 60_000, at(1)));
  expect(later).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000]);
  expect(reconnectDelay(9, Number.POSITIVE_INFINITY, at(1))).toBe(15_000);
});

test('the jitter is full: anything from nothing to the limit', () => {
  expect([0, 0.25, 0.5].map((random) => reconnectDelay(3, 0, at(random)))).toEqual([0, 500, 1000]);
});

test('a refused authtoken is tried again after about a minute, doubling to an hour', () => {
  expect([0, 0.5, 1].map((random) => refusedSessionDelay(1, at(random)))).toEqual([45_000, 60_000, 75_000]);
  const minutes = nth.map((refusals) => refusedSessionDelay(refusals, at(0.5)) / 60_000);
  expect(minutes).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
});

test('a session whose place another device takes is tried again after 1 to 2 s, doubling to five minutes', () => {
  expect([0, 1].map((random) => replacedDelay(1, at(random)))).toEqual([1000, 2000]);
  const seconds = nth.map((times) => replacedDelay(times, at(1)) / 1000);
  expect(seconds).toEqual([2, 4, 8, 16, 32, 64, 128, 300, 300]);
});

test('a refused tunnel is asked for again after 5 s, doubling to 60 s, never at once', () => {
  const most = nth.map((refusals) => refusedTunnelDelay(refusals, at(1)));
  expect(most).toEqual([5000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000, 60_000, 60_000]);
  expect(refusedTunnelDelay(1, at(0))).toBe(2500);
});

test.each([
  ['The name is taken.\r\n\r\nERR_GATEWAY_334\r\n', { code: 'ERR_GATEWAY_334', message: 'The name is taken.' }],
  ['ERR_GATEWAY_105\nOne.\n  Two. \n', { code: 'ERR_GATEWAY_105', message: 'One. Two.' }],
  ['ERR_OTHER_12', { code: 'ERR_OTHER_12', message: 'ERR_OTHER_12' }],
  ['It speaks of ERR_GATEWAY_1 only', { code: '', message: 'It speaks of ERR_GATEWAY_1 only' }],
])('the text of a refusal %j is taken apart', (text, { code, message }) => {
  expect(parseRefusal({ error: text, retryAfter: 3 })).toMatchObject({ code, message, retryAfter: 3000 });
});

test.each([
  ['127.0.0.1:3000', { host: '127.0.0.1', port: 3000, tls: 'none' }],
  ['localhost:22', { host: 'localhost', port: 22, tls: 'none' }],
  ['[::1]:3000', { host: '::1', port: 3000, tls: 'none' }],
  ['http://localhost', { host: 'localhost', port: 80, tls: 'none' }],
  ['http://localhost:3000/', { host: 'localhost', port: 3000, tls: 'none' }],
  ['https://camera.lan', { host: 'camera.lan', port: 443, tls: 'https' }],
  ['https://camera.lan:8443', { host: 'camera.lan', port: 8443, tls: 'https' }],
  ['tls://10.0.0.7:636', { host: '10.0.0.7', port: 636, tls: 'tls' }],
])('%s is a place to forward to', (text, upstream) => {
  expect(readUpstream({ forwardsTo: text })).toEqual(upstream);
});

test.each([
  '',
  'localhost',
  'tls://localhost',
  'localhost:0',
  'localhost:65536',
  '::1:3000',
  '[localhost]:80',
  'ftp://localhost:21',
  'http://user@localhost:80',
  'http://localhost:80/path',
])('%j is no place to forward to', (text) => {
  expect(() => readUpstream({ forwardsTo: text })).toThrow('must be host:port');
});

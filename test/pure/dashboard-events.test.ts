import { expect, test } from 'vitest';
import { createEventParser } from '../../src/dashboard/data/client/event-stream.ts';
import { retryDelay } from '../../src/dashboard/data/live/retry-delay.ts';

const STREAM =
  ':\n\nevent: next\ndata: {"data":{"a":"ü"}}\n\nevent: next\r\ndata: 1\r\ndata: 2\r\n\r\nevent: complete\n\n';
const EVENTS = [
  { event: '', data: '' },
  { event: 'next', data: '{"data":{"a":"ü"}}' },
  { event: 'next', data: '1\n2' },
  { event: 'complete', data: '' },
];

test('events are parsed wherever the chunks of the stream end', () => {
  for (let size = 1; size <= STREAM.length; size += 1) {
    const eventsIn = createEventParser();
    const pieces = STREAM.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    expect(pieces.flatMap((piece) => eventsIn(piece))).toEqual(EVENTS);
  }
});

test('an event without an end is rejected at the size limit', () => {
  const eventsIn = createEventParser();
  const piece = 'x'.repeat(1024 * 1024);
  expect(() => Array.from({ length: 5 }, () => eventsIn(piece))).toThrow('too long');
});

test('reconnections back off exponentially with jitter, up to 15 s', () => {
  const longest = Array.from({ length: 10 }, (_, attempt) => retryDelay(attempt, () => 1));
  expect(longest.slice(0, 4)).toEqual([500, 1000, 2000, 4000]);
  expect(Math.max(...longest)).toBe(15_000);
  expect(retryDelay(3, () => 0)).toBe(2000);
});

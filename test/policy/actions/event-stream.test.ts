// What policies replace in event streams, event by event.

import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { RewrittenBody } from '../../../src/edge/pipeline/body/rewritten-body.ts';
import type { HttpModule } from '../../../src/http/module.ts';
import { changeEvent } from '../../../src/policy/bodies/event-fields.ts';
import { EventStreamTransform } from '../../../src/policy/bodies/event-stream.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import { action, onResponse } from '../documents/support.ts';
import { environmentOf, exchangeOf } from '../exchange-support.ts';

const owner = { accountId: 'ac_2test', proto: 'https' } as const;

/** What goes on of a stream, as a policy changes it. */
async function streamed(body: string | Buffer, replacements: object[], fields: Record<string, string> = {}) {
  const policy = onResponse([action('sse-find-replace', { replacements })]);
  const http = compilePolicyDocument(policy, owner, environmentOf()).http as Required<HttpModule>;
  const answerFields = { 'content-type': 'text/event-stream; charset=utf-8', ...fields };
  const exchange = exchangeOf({ status: 200, answerFields });
  exchange.response?.replaceBody(Buffer.from(body));
  for (const [name, value] of Object.entries(fields)) exchange.response?.fields.set(name, value);
  const verdict = await http.onResponse(exchange);
  return { verdict, body: (await exchange.response?.body())?.toString(), fields: exchange.response?.fields };
}

/** The pieces that go on as those come, with the events in them in capitals. */
async function pieces(...sent: string[]) {
  const stream = new EventStreamTransform(async (event) => Buffer.from(event.toString().toUpperCase()));
  const out: string[] = [];
  for (const piece of sent) out.push((await stream.take(Buffer.from(piece))).toString());
  return [...out, (await stream.end()).toString()];
}

test('an event goes on with the empty line behind it, and not before', async () => {
  expect(await pieces('data: a', 'b\n', '\ndata: c\n\ndata', ': d')).toEqual([
    '',
    '',
    'DATA: AB\n\nDATA: C\n\n',
    '',
    'DATA: D',
  ]);
});

test.each(['\n', '\r\n', '\r'])('lines end with %j, wherever they are cut', async (end) => {
  const text = `id: 1${end}data: a${end}${end}data: b${end}${end}${end}`;
  for (let at = 0; at <= text.length; at++)
    expect((await pieces(text.slice(0, at), text.slice(at))).join('')).toBe(text.toUpperCase());
  const [first] = await pieces(`data: a${end}${end[0]}`);
  expect(first).toBe(end === '\r\n' ? 'DATA: A\r\n\r' : `DATA: A${end}${end}`);
});

test('the lines of data are one value; all else stays byte by byte', async () => {
  const { body } = await streamed(': secret\nevent: secret\ndata:a se\r\nid: 1\ndata: cret\ndata\n\n: \nretry:10\n\n', [
    { from: 'se\ncret', to: '1\n2' },
    { field: 'retry', from: '\\d+', to: '5\n$0' },
  ]);
  expect(body).toBe(': secret\nevent: secret\ndata: a 1\r\ndata: 2\r\ndata: \r\nid: 1\n\n: \nretry: 510\n\n');
});

test('the mark of a stream, bytes that are no UTF-8 and an event without an end', async () => {
  const upper = (event: Buffer) =>
    changeEvent(event, async (_, value) => value.replace(/[aö]/g, (letter) => letter.toUpperCase()));
  expect((await upper(Buffer.from('\uFEFFdata: ö\n\n'))).toString()).toBe('\uFEFFdata: Ö\n\n');
  expect(await upper(Buffer.from('data: a\xff', 'latin1'))).toEqual(Buffer.from('data: A\xff', 'latin1'));
});

test('upstream may send more only for what was changed', async () => {
  const waiting: (() => void)[] = [];
  const slow = new EventStreamTransform((event) => new Promise((resolve) => waiting.push(() => resolve(event))));
  const told: (number | string)[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    const body = new RewrittenBody({ transforms: [slow], encoding: undefined }, false, false, {
      write: (bytes) => told.push(String(bytes)),
      onTaken: (bytes) => told.push(bytes),
      onEnd: resolve,
      onError: reject,
    });
    body.take(Buffer.from('a\n\n'), 3);
    body.take(Buffer.from('bc\n\n'), 4);
    body.end();
  });
  await new Promise(setImmediate);
  expect([told, waiting.length]).toEqual([[], 1]);
  waiting[0]?.();
  await new Promise(setImmediate);
  expect([told, waiting.length]).toEqual([['a\n\n', 3], 2]);
  waiting[1]?.();
  await ended;
  expect(told).toEqual(['a\n\n', 3, 'bc\n\n', 4]);
});

test('a compressed stream is decoded; what is no event stream stays', async () => {
  const gzipped = await streamed(gzipSync('data: a secret\n\n'), [{ from: 'secret' }], { 'content-encoding': 'gzip' });
  expect(gzipped.body).toBe('data: a \n\n');
  expect(gzipped.fields?.has('content-encoding')).toBe(false);
  const page = await streamed('data: a secret\n\n', [{ from: 'secret' }], { 'content-type': 'text/html' });
  expect(page.body).toBe('data: a secret\n\n');
});

test.each([
  ['has an event that is too large', `data: ${'a'.repeat(256 * 1024)}\n\n`, {}, /an event has more than 262144 bytes/],
  ['has a coding that is not known', 'a', { 'content-encoding': 'zstd' }, /is encoded as zstd/],
  ['has not the coding that it says', 'a', { 'content-encoding': 'br' }, /is not valid br/],
  ['is a bomb', gzipSync(Buffer.alloc(4_000_000)), { 'content-encoding': 'gzip' }, /grows too much when it is decoded/],
])('a stream is refused that %s', async (_, body, fields, reason) => {
  const { verdict } = await streamed(body, [{ from: 'a' }], fields as Record<string, string>);
  expect(verdict).toMatchObject({
    kind: 'refuse',
    error: 'responseNotSearched',
    reason: expect.stringMatching(reason),
  });
});

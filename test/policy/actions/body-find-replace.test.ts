// What policies replace in bodies.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { HttpModule } from '../../../src/http/module.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import { action, onRequest } from '../documents/support.ts';
import { type ExchangeShape, environmentOf, exchangeOf } from '../exchange-support.ts';

const owner = { accountId: 'ac_2test', proto: 'https' } as const;

async function replaced(replacements: object[], shape: ExchangeShape) {
  const policy = onRequest([
    action('set-vars', { vars: [{ word: 'b+' }] }),
    action('request-body-find-replace', { replacements }),
    action('add-headers', { headers: { 'x-found': '${json.encode(actions.request_body_find_replace.replacements)}' } }),
  ]);
  const http = compilePolicyDocument(policy, owner, environmentOf()).http as Required<HttpModule>;
  const exchange = exchangeOf({ method: 'POST', ...shape });
  const verdict = await http.onRequest(exchange);
  const { fields } = exchange.request;
  return { verdict, body: await exchange.request.body(), fields, found: JSON.parse(fields.get('x-found') ?? 'null') };
}

test('every match of each is replaced, in what the one before has left', async () => {
  const { body, found, fields } = await replaced(
    [
      { from: '(\\d)-(\\d)', to: '$2:${req.method}:$1' },
      { from: '${vars.word}', to: '' },
      { from: 'nowhere', to: 'x' },
      { from: 'POST', to: 'ö' },
    ],
    { body: 'a1-2bb3-4c', fields: { 'content-md5': 'x' } },
  );
  expect(body?.toString()).toBe('a2:ö:14:ö:3c');
  expect(found).toEqual([
    { replacement_index: 0, matched_content: '1-2' },
    { replacement_index: 1, matched_content: 'bb' },
    { replacement_index: 3, matched_content: 'POST' },
  ]);
  expect(fields.list.filter(([name]) => /^content/i.test(name))).toEqual([['Content-Length', '14']]);
});

test('a compressed body is decoded where something is replaced, and goes on as it came otherwise', async () => {
  for (const [coding, body] of [
    ['gzip', gzipSync('a secret')],
    ['br', brotliCompressSync('a secret')],
    ['br, gzip', gzipSync(brotliCompressSync('a secret'))],
  ] as const) {
    const shape = { body, fields: { 'content-encoding': coding } };
    const changed = await replaced([{ from: 'secret', to: 'word' }], shape);
    expect(changed.body?.toString()).toBe('a word');
    expect(changed.fields.has('content-encoding')).toBe(false);
    const same = await replaced([{ from: 'nowhere' }], shape);
    expect(same.body).toEqual(body);
    expect(same.fields.get('content-encoding')).toBe(coding);
  }
});

test('bytes that are no UTF-8 stay', async () => {
  const { body } = await replaced([{ from: 'a', to: 'b' }], { body: Buffer.from([0xff, 0x61, 0x00, 0xfe]) });
  expect(body).toEqual(Buffer.from([0xff, 0x62, 0x00, 0xfe]));
});

test.each([
  ['is too large', { body: 'a'.repeat(256 * 1024 + 1) }, 'has more than 262144 bytes'],
  ['is larger than any body that is read', { body: 'a'.repeat(1024 * 1024 + 1) }, 'has more than 1 MiB'],
  ['is too large when it is decoded', gzipped(300_000), 'has more than 262144 bytes'],
  ['has a coding that is not known', { body: 'a', fields: { 'content-encoding': 'zstd' } }, 'is encoded as zstd'],
  ['has not the coding that it says', { body: 'a', fields: { 'content-encoding': 'gzip' } }, 'is not valid gzip'],
])('a body is refused that %s', async (_, shape: ExchangeShape, reason) => {
  const { verdict } = await replaced([{ from: 'a' }], shape);
  expect(verdict).toMatchObject({ kind: 'refuse', error: 'bodyNotSearched', reason: expect.stringContaining(reason) });
});

function gzipped(length: number): ExchangeShape {
  return { body: gzipSync(Buffer.alloc(length)), fields: { 'content-encoding': 'gzip' } };
}

test('a search that could take too long is not begun, nor with a pattern that is none', async () => {
  const costly = await replaced([{ from: '(\\w+x){100}' }], { body: 'a'.repeat(200_000) });
  expect(costly.verdict).toMatchObject({
    error: 'policyFailed',
    reason: expect.stringContaining('too much to search'),
  });
  const wrong = await replaced([{ from: "${'('}" }], { body: 'a' });
  expect(wrong.verdict).toMatchObject({ error: 'policyFailed', reason: expect.stringContaining('RE2') });
});

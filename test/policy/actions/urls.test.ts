// What `redirect` and `url-rewrite` make of URLs, and how durations are read.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { describe, expect, test } from 'vitest';
import type { HttpModule, Verdict } from '../../../src/http/module.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import { readDuration, writeDuration } from '../../../src/policy/settings/duration.ts';
import { action, onRequest } from '../documents/support.ts';
import { environmentOf, exchangeOf } from '../exchange-support.ts';

const httpOf = (policy: object) =>
  compilePolicyDocument(policy, { accountId: 'ac_2test', proto: 'https' }, environmentOf())
    .http as Required<HttpModule>;
const fieldOf = (verdict: Verdict, name: string) =>
  verdict && 'fields' in verdict ? verdict.fields?.find(([other]) => other === name)?.[1] : undefined;

describe('redirect and url-rewrite', () => {
  test.each([
    ['https://app.example.com/a/b', '/a/', '/c/', 'https://app.example.com/c/b'],
    [
      'https://app.example.com/products?x=1',
      '^(https?://[^/]+)/products(.*)$',
      '$1/store$2',
      'https://app.example.com/store?x=1',
    ],
    ['https://app.example.com/a', '^https://app', 'https://www', 'https://www.example.com/a'],
    ['https://app.example.com/a', '(?P<all>.*)/a', '${"$"}{all}/b', 'https://app.example.com/b'],
    ['https://app.example.com/A/x', '(?i)/a/', '/c/', 'https://app.example.com/c/x'],
    [
      'https://app.example.com/api/v1/x',
      '^${req.url.scheme}://${req.url.authority}/api/v1/',
      '/new/',
      'https://app.example.com/new/x',
    ],
    ['https://app.example.com/x?a=1', '.*', '$scheme://$host/y$is_args$args', 'https://app.example.com/y?a=1'],
    ['https://app.example.com/x?a=1&b=2', '/x.*', '/y/$arg_b', 'https://app.example.com/y/2'],
    ['https://app.example.com/x', '.*', 'https://new.example.com${req.url.path}', 'https://new.example.com/x'],
  ])('%s: %s becomes %s', async (url, from, to, expected) => {
    const { pathname, search } = new URL(url);
    const exchange = exchangeOf({ target: `${pathname}${search}` });
    const answer = await httpOf(onRequest([action('redirect', { from, to })])).onRequest(exchange);
    expect(fieldOf(answer, 'location')).toBe(expected);

    const rewritten = exchangeOf({ target: `${pathname}${search}` });
    expect(await httpOf(onRequest([action('url-rewrite', { from, to })])).onRequest(rewritten)).toBeUndefined();
    expect(`https://${rewritten.request.host}${rewritten.request.target}`).toBe(expected);
  });

  test.each([
    ['/old//evil.example/x', '^https?://[^/]+/old(.*)$', '$1', 'https://app.example.com/evil.example/x'],
    ['/old/\\evil.example/x', '^https?://[^/]+/old(.*)$', '$1', 'https://app.example.com/%5Cevil.example/x'],
    ['/?next=/%09/evil.example', undefined, '${getQueryParam("next")[0]}', 'https://app.example.com/evil.example'],
  ])('%s leads to no other host: %s, %s', async (target, from, to, expected) => {
    const answer = await httpOf(onRequest([action('redirect', { from, to })])).onRequest(exchangeOf({ target }));
    expect(fieldOf(answer, 'location')).toBe(expected);
  });

  test('a URL that cannot be one fails the request', async () => {
    const http = httpOf(onRequest([action('redirect', { from: '^.*', to: 'https://a b/' })]));
    expect(await http.onRequest(exchangeOf())).toMatchObject({
      error: 'policyFailed',
      reason: expect.stringMatching(/not a URL/),
    });
  });
});

test.each<[string, number | undefined]>([
  ['10s', 10_000],
  ['1m30s', 90_000],
  ['1.5h', 5_400_000],
  ['250ms', 250],
  ['1h1m1s1ms', 3_661_001],
  ['0s', 0],
  ['', undefined],
  ['10', undefined],
  ['s', undefined],
  ['-1s', undefined],
  ['1 s', undefined],
  ['1d', undefined],
  [`${'1s'.repeat(40)}`, undefined],
])('the duration %j is %j ms', (text, ms) => {
  expect(readDuration(text)).toBe(ms);
  if (ms !== undefined) expect(readDuration(writeDuration(ms))).toBe(ms);
});

// The examples in the manual of traffic policies: they can be used, are refused and do what it says.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { graphql } from 'graphql';
import { describe, expect, test } from 'vitest';
import { schema } from '../../src/api/schema.ts';
import { CompileQueue } from '../../src/policy/compile/compile-queue.ts';
import { dryRun } from '../../src/policy/dry-run/dry-run.ts';
import { action, onRequest } from '../policy/documents/support.ts';
import { NOON } from '../policy/exchange-support.ts';
import { blocksOf } from './pages.ts';
import { folder, manual, owner, refusalOf } from './policy-manual.ts';

const examples = blocksOf('src/manual/policies.md')
  .filter(({ language }) => language === 'yaml')
  .map(({ text, answer }) => ({ policy: text, refusal: answer?.text }));

test.each(examples.filter(({ refusal }) => !refusal))('this can be used: $policy', ({ policy }) => {
  expect(refusalOf(policy)?.message).toBeUndefined();
});

test.each(examples.filter(({ refusal }) => refusal))('this is refused as it says: $policy', ({ policy, refusal }) => {
  const error = refusalOf(policy);
  expect(`ERR_GATEWAY_${error?.number}\n${error?.message}`).toBe(refusal);
});

test('there are examples of both', () => {
  expect(examples.filter(({ refusal }) => refusal).length).toBeGreaterThan(2);
  expect(examples.filter(({ refusal }) => !refusal).length).toBeGreaterThan(5);
});

describe('recipes', () => {
  const titles = [...(/^## Recipes\n[\s\S]*?(?=^## )/m.exec(manual)?.[0] ?? '').matchAll(/^### (.*)$/gm)].map(
    ([, title]) => title,
  );
  const recipe = (title: string) =>
    new RegExp(`### ${title}\\n[\\s\\S]*?\`\`\`yaml\\n([\\s\\S]*?)\\n\`\`\``).exec(manual)?.[1] ?? '';
  const as = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
  const answered = (status: number) => ({ request: undefined, response: { status } });
  /** What upstream gets, but for the host. */
  const passed = (headers: object[] = []) => ({
    request: { internal: undefined, headers: [{ name: 'host' }, ...headers] },
  });
  const visits: [title: string, target: string, headers: Record<string, string>, expected: object][] = [
    ['Block a path', '/internal/x', {}, answered(404)],
    ['Block a path', '/%69nternal', {}, answered(404)],
    ['Block a path', '/internally', {}, passed()],
    ['A rate limit for each key', '/', {}, answered(401)],
    ['A rate limit for each key', '/', { 'x-api-key': 'a' }, passed([{ name: 'x-api-key' }])],
    ['A password', '/', as('office:wrong'), answered(401)],
    ['A password', '/', as('night:battery staple'), passed()],
    ['One name, two services', '/orders/1', {}, { request: { internal: 'https://orders.internal' } }],
    ['One name, two services', '/', {}, passed()],
    ['Send the name of the client certificate to the upstream', '/', { 'x-device': 'mine' }, passed()],
  ];

  test.each(visits)('%s: %s with %j', async (title, target, headers, expected) => {
    const fields = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const request = { url: `https://app.example.com${target}`, headers: fields };
    expect((await dryRun(recipe(title), owner, request)).outcome).toMatchObject(expected);
  });

  test('all of them are tried', () => {
    expect([...new Set(visits.map(([title]) => title))]).toEqual(titles);
  });
});

describe('pitfalls', () => {
  const answered = async (body: string, target = '/', expressions: string[] = []) => {
    const policy = onRequest([action('custom-response', { body })], ...expressions);
    const request = { url: `https://app.example.com${target}`, headers: [{ name: 'X-Key', value: 'a' }] };
    return (await dryRun(JSON.stringify(policy), owner, request)).outcome?.response?.body;
  };
  test.each([
    ["${req.headers['x-KEY'][0]} ${'X-Key' in req.headers} ${req.headers.filter(n, n == 'x-key')}", 'a true ["x-key"]'],
    ['${req.url.path} ${req.url.raw_path}', '/admin /%61dmin'],
    ["${'${'} $ $a", '${ $ $a'],
    ["${req.host == 'b' && req.headers['none'][0] == 'a'}", 'false'],
    ['${timestamp(1).getDayOfMonth()} ${timestamp(1).getDate()} ${timestamp(1).getDayOfWeek()}', '0 1 4'],
    ["${'a b'.split()} ${timestamp(1)} ${b'a'}", '["a","b"] 1970-01-01T00:00:01Z YQ=='],
  ])('%s is %s', async (template, text) => {
    expect(await answered(template, '/%61dmin')).toBe(text);
  });

  test.each([
    [{ from: '^(https?://[^/]+)/(?P<first>[^/]+)/(.*)', to: '$1/$<first>-$3-$$' }, 'https://app.example.com/a-b?c=d-$'],
    [{ from: '/a', to: '/c' }, 'https://cpp.example.com/c/b?c=d'],
    [{ from: '.*', to: '$scheme://$host$uri$is_args$arg_c' }, 'https://app.example.com/a/b?d'],
    [{ to: '//other.example/' }, 'https://other.example/'],
    [{ to: '/${req.url.path}' }, 'https://app.example.com/a/b'],
    [{ from: 'https://app.example.com', to: '' }, undefined],
  ])('a redirect by %j leads to %s', async (config, location) => {
    const policy = JSON.stringify(onRequest([action('redirect', config)]));
    const { outcome } = await dryRun(policy, owner, { url: 'https://app.example.com/a/b?c=d' });
    expect(outcome?.response?.headers.find(({ name }) => name === 'location')?.value).toBe(location);
  });
});

test('the trial run is what GraphQL answers', async () => {
  const [, source = '', answer = ''] = /```graphql\n([\s\S]*?)\n```\n\n```json\n([\s\S]*?)\n```/.exec(manual) ?? [];
  const contextValue = {
    accountId: owner.accountId,
    caller: { isAdmin: false },
    app: { now: () => NOON, config: { policyFetch: 'public', backendHosts: [] }, policies: new CompileQueue() },
  };
  const received = await graphql({ schema, source, contextValue });
  expect(JSON.parse(JSON.stringify(received))).toEqual(JSON.parse(answer));
});

test.each([...manual.matchAll(/\]\((\.[^)#]+)/g)].map(([, target = '']) => target))('%s is there', (target) => {
  expect(existsSync(join(folder, target))).toBe(true);
});

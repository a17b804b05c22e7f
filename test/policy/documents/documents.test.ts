// Whole policies: those that are refused, with their problem, and those that are not, with what becomes of a visit.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { actionKinds } from '../../../src/policy/actions/registry.ts';
import { compilePolicyDocument, compilePolicyText } from '../../../src/policy/compile/policy.ts';
import { dryRun } from '../../../src/policy/dry-run/dry-run.ts';
import { PolicyError } from '../../../src/policy/settings/problems.ts';
import { environmentOf } from '../exchange-support.ts';
import { answering } from './answering.ts';
import { badSettings } from './bad-settings.ts';
import { badShapes } from './bad-shapes.ts';
import { badTexts } from './bad-texts.ts';
import { changing } from './changing.ts';
import { guarding } from './guarding.ts';
import { shaped } from './shapes.ts';
import { action, ORIGIN, onRequest, onResponse, textOf, type ValidDocument } from './support.ts';

const invalid = [...badShapes, ...badTexts, ...badSettings];

const HOST = 'app.example.com';
const owner = { accountId: 'ac_2test', proto: 'https' } as const;

function problemsOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof PolicyError) return error.problems;
    throw error;
  }
  return [];
}

describe('this is refused, and it is said why:', () => {
  test.each(invalid.map((document) => [document.name, document] as const))('%s', (_, { policy, proto, problem }) => {
    const [first] = problemsOf(() =>
      compilePolicyText(textOf(policy), { ...owner, proto: proto ?? 'https' }, environmentOf()),
    );
    const [path, number, message] = problem;
    expect(first).toEqual({ path, number, message: expect.stringMatching(message) });
  });
});

const fieldsOf = (headers: Record<string, string>) => Object.entries(headers).map(([name, value]) => ({ name, value }));
const joined = (fields: readonly { name: string; value: string }[]) => {
  const all: Record<string, string> = {};
  for (const { name, value } of fields) {
    const lower = name.toLowerCase();
    all[lower] = lower in all ? `${all[lower]}, ${value}` : value;
  }
  return all;
};

async function visited({ policy, request = {}, origin }: ValidDocument) {
  const { target = '/', headers = {}, ...rest } = request;
  const answer = { ...ORIGIN, ...origin };
  const { problems, outcome } = await dryRun(
    textOf(policy),
    owner,
    { ...rest, url: `https://${HOST}${target}`, headers: fieldsOf(headers), clientIp: '127.0.0.1' },
    { ...answer, headers: fieldsOf(answer.headers) },
    { internal: () => undefined },
  );
  expect(problems).toEqual([]);
  if (!outcome) throw new Error('there is no outcome');
  const { kind, request: forwarded, response } = outcome;
  return {
    status: kind === 'closed' ? undefined : response?.status,
    headers: joined(response?.headers ?? []),
    body: response?.body ?? answer.body,
    forwarded: forwarded && {
      target: forwarded.url.replace(/^https:\/\/[^/]+/, ''),
      headers: joined(forwarded.headers),
    },
  };
}

describe('this does what it says:', () => {
  const documents = [...shaped, ...guarding, ...changing, ...answering];

  test.each(documents.map((document) => [document.name, document] as const))('%s', async (_, document) => {
    const { status, headers = {}, without = [], body, upstream = {} } = document.expected;
    const seen = await visited(document);
    expect(seen.status).toBe(status);
    for (const [name, value] of Object.entries(headers))
      expect(seen.headers).toHaveProperty([name], value.replace('{host}', HOST));
    for (const name of without) expect(seen.headers).not.toHaveProperty([name]);
    if (body !== undefined) expect(seen.body).toBe(body);

    if (upstream === null) return expect(seen.forwarded).toBeUndefined();
    expect(seen.forwarded?.target).toBe(upstream.target ?? document.request?.target ?? '/');
    expect(seen.forwarded?.headers).toMatchObject(upstream.headers ?? {});
    for (const name of upstream.without ?? []) expect(seen.forwarded?.headers).not.toHaveProperty([name]);
  });

  test('there are at least 60, of both kinds', () => {
    const all = [...documents, ...invalid].map(({ name }) => name);
    expect(new Set(all).size).toBe(all.length);
    expect(documents.length).toBeGreaterThan(45);
    expect(invalid.length).toBeGreaterThan(45);
  });
});

test('all that is wrong is told at once, up to 20 things', () => {
  const wrong = onRequest([action('deny', { status_code: 1 }), action('teleport')], 'req.metod', 'also(');
  expect(problemsOf(() => compilePolicyDocument(wrong, owner, environmentOf())).map(({ path }) => path)).toEqual([
    'on_http_request[0].expressions[0]',
    'on_http_request[0].expressions[1]',
    'on_http_request[0].actions[0].config.status_code',
    'on_http_request[0].actions[1]',
    'on_http_request[0].actions[1].type',
  ]);
  const many = onRequest(Array.from({ length: 50 }, () => action('teleport')));
  expect(problemsOf(() => compilePolicyDocument(many, owner, environmentOf()))).toHaveLength(20);
});

test('an error names its problems, and has the number of the first', () => {
  const wrong = { on_http_request: [{ actions: [action('teleport')] }], on_request: [] };
  const error = new PolicyError(problemsOf(() => compilePolicyDocument(wrong, owner, environmentOf())));
  expect(error.number).toBe(2204);
  expect(error.message).toMatch(/^on_request is not known here; known are: /);
});

test('a phase without rules is not there at all', () => {
  const requests = compilePolicyDocument(onRequest([action('deny')]), owner, environmentOf());
  expect(Object.keys(requests.http ?? {})).toEqual(['name', 'onRequest']);
  expect(requests.connection).toBeUndefined();
  const answers = compilePolicyDocument(onResponse([action('compress-response')]), owner, environmentOf());
  expect(Object.keys(answers.http ?? {})).toEqual(['name', 'onResponse']);
  const nothing = compilePolicyDocument({ enabled: false, ...onRequest([action('deny')]) }, owner, environmentOf());
  expect(nothing).toEqual({ http: undefined, connection: undefined, secrets: [], issuers: [], cookieDomains: [] });
});

test('whatever an action is told, it is compiled or refused', () => {
  const texts = fc.constantFrom(
    '',
    'a',
    '10s',
    '60s',
    '${',
    '${req.host}',
    '${vars.a}',
    '(',
    '10.0.0.0/8',
    'a:b',
    '__proto__',
  );
  const value = fc.oneof(
    texts,
    fc.jsonValue({ maxDepth: 2 }),
    fc.array(texts, { maxLength: 3 }),
    fc.dictionary(texts, texts, { maxKeys: 3 }),
  );
  const documents = fc.constantFrom(...actionKinds).chain(({ type, phases, members }) =>
    fc.record({
      phase: fc.constantFrom(...phases),
      type: fc.constant(type),
      config: fc.dictionary(fc.constantFrom(...members, 'other'), value, { maxKeys: members.length + 1 }),
    }),
  );
  fc.assert(
    fc.property(documents, ({ phase, type, config }) => {
      const policy = JSON.parse(JSON.stringify({ [phase]: [{ actions: [{ type, config }] }] }));
      for (const { path, message, number } of problemsOf(() => compilePolicyDocument(policy, owner, environmentOf()))) {
        expect(path).toMatch(/^on_/);
        expect(message).not.toMatch(/undefined|NaN|\[object/);
        expect(number).toBeGreaterThan(2000);
      }
    }),
    { numRuns: 1000 },
  );
});

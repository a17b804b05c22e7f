// The numbers in the manual of traffic policies: limits, error numbers, and the providers of webhooks.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { visitorErrors } from '../../src/http/visitor-errors.ts';
import { ELEMENTS_MAX, EVALUATION_COST_MAX, TEXT_LENGTH_MAX } from '../../src/policy/cel/cost-budget.ts';
import { PROBLEM } from '../../src/policy/settings/problems.ts';
import { webhookProvider, webhookProviders } from '../../src/policy/webhooks/providers.ts';
import { POLICY_LIMITS } from '../../src/protocol/policy/policy-shape.ts';
import { badSettings } from '../policy/documents/bad-settings.ts';
import { badShapes } from '../policy/documents/bad-shapes.ts';
import { badTexts } from '../policy/documents/bad-texts.ts';
import { action, onConnect, onRequest } from '../policy/documents/support.ts';
import { root } from '../support/root.ts';
import { coded, manual, part, refusalOf, rows } from './policy-manual.ts';

describe('numbers', () => {
  test('limits', () => {
    const { document, depth, rules, expressions, actions, name, expression } = POLICY_LIMITS;
    const number = (value: number) => value.toLocaleString('en-US');
    expect(rows('limits').map(([, limit = '']) => limit.split(';')[0])).toEqual([
      `${document / 1024} KiB, nested ${depth} levels`,
      `${rules} rules, ${expressions} expressions, ${actions} actions, a name of ${name} bytes`,
      `${expression / 1024} KiB, 2,000 parts, nested 100 levels, 2 loops (\`exists\`, \`map\`, …) within each other`,
      `100 expressions in it, ${number(TEXT_LENGTH_MAX)} characters when it is computed`,
      '8 KiB, 5,000 instructions',
      `texts of ${number(TEXT_LENGTH_MAX)} characters, lists of ${number(ELEMENTS_MAX)} elements`,
      `${number(EVALUATION_COST_MAX)} steps`,
    ]);
  });

  test.each([
    ['parts', `[${'1,'.repeat(2000)}1] == []`, 'more than 2000 parts'],
    ['levels', `${'('.repeat(101)}true${')'.repeat(101)}`, 'nested deeper than 100 levels'],
    ['loops', '[1].all(a, [1].all(b, [1].all(c, true)))', 'more than 2 loops'],
    ['of a pattern', `req.host.matches('${'a'.repeat(8193)}')`, 'at most 8192 bytes'],
    ['instructions', "req.host.matches('(?:abcdefgh){1000}')", 'is too large'],
  ])('more %s than the table says', (_, expression, message) => {
    expect(refusalOf(onRequest([action('deny')], expression))?.message).toContain(message);
  });

  test('every number that a policy is refused with', () => {
    const table = /\| Number \|[\s\S]*?\n\n/.exec(manual)?.[0] ?? '';
    const explained = [...table.matchAll(/\b(?:2\d{3}|90\d{3})\b/g)].map(([number]) => Number(number));
    const refused = [
      onRequest([action('basic-auth', { credentials: ['user'] })]),
      onRequest([action('basic-auth', { credentials: ['user:short'] })]),
      onConnect([action('terminate-tls', { server_certificate: 'a' })]),
    ].map((policy) => refusalOf(policy)?.number);
    const documents = [...badShapes, ...badSettings, ...badTexts].map(({ problem }) => problem[1]);
    const ofRoutes = 2248; // `policy-check.ts`
    expect(explained.sort()).toEqual(
      [...new Set([...Object.values(PROBLEM), ...documents, ...refused, ofRoutes])].sort(),
    );
  });

  const shown = [...manual.matchAll(/(\d{3}) `ERR_GATEWAY_(\d+)`/g)];
  test.each(shown.map(([, status, number]) => ({ status, number })))(
    'visitors are shown $number with $status',
    (code) => {
      const { status, number } = code;
      const known = Object.values(visitorErrors).find((row) => row.number === Number(number));
      expect(known?.status).toBe(Number(status));
    },
  );
});

test('senders of webhooks: which are known, which were checked, and whose tests are answered', () => {
  const source = readFileSync(join(root, 'test/policy/webhooks/documented.test.ts'), 'utf8');
  const documented = /const documented[\s\S]*?\n\];/.exec(source)?.[0] ?? '';
  expect(coded(part('providers'))).toEqual(webhookProviders);
  expect(coded(part('checked'))).toEqual([...documented.matchAll(/provider: '(\w+)'/g)].map(([, name]) => name).sort());
  expect(coded(part('answered'))).toEqual(webhookProviders.filter((name) => webhookProvider(name)?.answer));
});

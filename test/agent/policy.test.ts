// What both agent and gateway take for a well-formed traffic policy, and which one a tunnel without policy gets.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { openDefaultPolicy, PolicyError, policyFor, readPolicyFile } from '../../agent/src/tunnels/policy.ts';
import { checkPolicy, POLICY_LIMITS, type PolicyProtocol } from '../../src/protocol/policy/policy-shape.ts';

const deny = { actions: [{ type: 'deny' }] };
const sample = {
  inbound: [],
  outbound: [
    {
      expressions: ["req.url.path == '/'"],
      name: 'Add headers',
      actions: [{ type: 'add-headers', config: { headers: { a: '1' } } }],
    },
  ],
};
const wrong = (value: unknown, protocol: PolicyProtocol = 'http') =>
  checkPolicy(value, protocol).map(({ path, message }) => `${path}: ${message}`);

describe('a policy is well formed:', () => {
  test.each<[string, unknown, PolicyProtocol]>([
    ['the empty document', {}, 'http'],
    ['empty phases', { inbound: [], outbound: [] }, 'tcp'],
    ['the policy of the documentation', sample, 'https'],
    ['the new names of phases', { on_tcp_connect: [deny], on_http_request: [deny], on_http_response: [deny] }, 'https'],
    ['inbound on tcp, where it means new connections', { inbound: [deny] }, 'tcp'],
    ['old and new names for different phases', { inbound: [deny], on_http_response: [deny] }, 'http'],
    ['inbound and on_tcp_connect, which differ for HTTP', { inbound: [deny], on_tcp_connect: [deny] }, 'http'],
    ['switched off', { enabled: false, inbound: [deny] }, 'http'],
    ['settings that YAML leaves empty', { inbound: [{ actions: [{ type: 'deny', config: null }] }] }, 'tls'],
  ])('%s', (_, policy, protocol) => {
    expect(checkPolicy(policy, protocol)).toEqual([]);
  });
});

describe('what is wrong with a policy is said with its place:', () => {
  const rule = (value: unknown) => ({ inbound: [value] });
  const action = (value: unknown) => rule({ actions: [{ type: 'deny' }, value] });
  test.each<[string, unknown, PolicyProtocol, RegExp]>([
    ['a list', [], 'http', /^: must be an object/],
    ['a text', '{}', 'http', /^: must be an object/],
    ['nothing', null, 'http', /^: must be an object/],
    ['a key that is not known', { on_http_requests: [] }, 'http', /^on_http_requests: .*known are: on_tcp_connect/],
    ['a switch that is none', { enabled: 'no' }, 'http', /^enabled: must be true or false/],
    ['old and new names for one phase', { inbound: [], on_http_request: [] }, 'http', /^on_http_request: .*inbound/],
    [
      'old and new names for one phase of tcp',
      { on_tcp_connect: [], inbound: [] },
      'tcp',
      /^inbound: .*on_tcp_connect/,
    ],
    ['the same of answers', { outbound: [], on_http_response: [] }, 'https', /^on_http_response: .*outbound/],
    ['answers on tcp', { outbound: [deny] }, 'tcp', /^outbound: is a phase of HTTP/],
    ['requests on tls', { on_http_request: [deny] }, 'tls', /^on_http_request: is a phase of HTTP/],
    [
      'one rule in place of a list',
      { inbound: deny },
      'http',
      /^inbound: must be a list of rules: put the one in \[ \]/,
    ],
    ['no list', { inbound: null }, 'http', /^inbound: must be a list of rules$/],
    ['a rule that is a text', rule('deny'), 'http', /^inbound\[0\]: must be an object/],
    ['a rule with an unknown member', rule({ ...deny, when: [] }), 'http', /^inbound\[0\]\.when: is not known here/],
    ['a rule without actions', rule({ name: 'x' }), 'http', /^inbound\[0\]\.actions: must have at least one action/],
    ['a rule with no action', rule({ actions: [] }), 'http', /^inbound\[0\]\.actions: must have at least one action/],
    [
      'one action in place of a list',
      rule({ actions: { type: 'deny' } }),
      'http',
      /^inbound\[0\]\.actions: must be a list/,
    ],
    ['a name that is a number', rule({ ...deny, name: 1 }), 'http', /^inbound\[0\]\.name: must be a text/],
    [
      'an expression for a list',
      rule({ ...deny, expressions: 'true' }),
      'http',
      /^inbound\[0\]\.expressions: must be a list/,
    ],
    [
      'an expression that is none',
      rule({ ...deny, expressions: ['true', 1] }),
      'http',
      /^inbound\[0\]\.expressions\[1\]: must be/,
    ],
    ['an action without type', action({ config: {} }), 'http', /^inbound\[0\]\.actions\[1\]\.type: is missing/],
    ['an action of another type', action({ type: 7 }), 'http', /^inbound\[0\]\.actions\[1\]\.type: must be a text/],
    [
      'a type with blanks',
      action({ type: 'Add Headers' }),
      'http',
      /^inbound\[0\]\.actions\[1\]\.type: must be lower-case/,
    ],
    [
      'settings in a list',
      action({ type: 'deny', config: [] }),
      'http',
      /^inbound\[0\]\.actions\[1\]\.config: must be an object/,
    ],
    [
      'an unknown member of an action',
      action({ type: 'deny', on: 1 }),
      'http',
      /^inbound\[0\]\.actions\[1\]\.on: is not known/,
    ],
  ])('%s', (_, policy, protocol, text) => {
    expect(wrong(policy, protocol)).toEqual([expect.stringMatching(text)]);
  });

  test('all of it at once, up to twenty places, each with its number in the catalogue', () => {
    const problems = checkPolicy({ inbound: Array.from({ length: 100 }, () => ({ actions: [] })) }, 'http');
    expect(problems).toHaveLength(20);
    expect(new Set(problems.map(({ number }) => number))).toEqual(new Set([2206]));
  });
});

describe('a policy is bounded:', () => {
  const { rules, actions, expressions, name, expression, type, document, depth } = POLICY_LIMITS;
  const times = <T>(count: number, value: T) => Array.from({ length: count }, () => value);
  const withAction = (value: object) => ({ inbound: [{ actions: [value] }] });
  const padded = (size: number) => {
    const empty = JSON.stringify(withAction({ type: 'deny', config: { x: '' } })).length;
    return withAction({ type: 'deny', config: { x: 'x'.repeat(size - empty) } });
  };
  const nested = (levels: number): object => (levels === 0 ? {} : { inner: nested(levels - 1) });
  test.each<[string, number, (size: number) => unknown, RegExp]>([
    ['rules of a phase', rules, (n) => ({ inbound: times(n, deny) }), /^inbound: must have at most/],
    [
      'actions of a rule',
      actions,
      (n) => ({ inbound: [{ actions: times(n, { type: 'deny' }) }] }),
      /actions: must have at most/,
    ],
    [
      'expressions of a rule',
      expressions,
      (n) => ({ inbound: [{ ...deny, expressions: times(n, 'true') }] }),
      /expressions: must/,
    ],
    ['bytes of a name', name, (n) => ({ inbound: [{ ...deny, name: 'x'.repeat(n) }] }), /name: must have at most/],
    [
      'bytes of an expression',
      expression,
      (n) => ({ inbound: [{ ...deny, expressions: ['x'.repeat(n)] }] }),
      /\[0\]: must have/,
    ],
    ['bytes of a type', type, (n) => withAction({ type: 'x'.repeat(n) }), /type: must have at most/],
    ['bytes of all', document, (n) => padded(n), /^: must have at most/],
    // The document, the phase, the rule, its actions, the action, its config.
    ['levels', depth, (n) => withAction({ type: 'deny', config: nested(n - 6) }), /^: must not be nested deeper/],
  ])('%s', (_, most, make, text) => {
    expect(wrong(make(most))).toEqual([]);
    expect(wrong(make(most + 1))).toEqual([expect.stringMatching(text)]);
  });

  test('one that is far too deep or too wide is refused, and not by an overflow', () => {
    const deep = JSON.parse(`{"inbound":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
    expect(wrong(deep)).toEqual([expect.stringMatching(/nested/)]);
    expect(wrong({ inbound: times(500_000, 0) })).toHaveLength(2);
  });
});

test('whatever the document is, the check ends with an answer', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom('http', 'https', 'tcp', 'tls'), (value, protocol) => {
      const keys = ['inbound', 'on_http_request'].map((phase) => ({ [phase]: value }));
      for (const document of [value, ...keys])
        for (const { message, path } of checkPolicy(document, protocol)) {
          expect(message).not.toBe('');
          expect(path).toBeTypeOf('string');
        }
    }),
  );
});

describe('the default policy', () => {
  const directory = mkdtempSync(join(tmpdir(), 'agent-policy-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'policy.json');
  const warned: string[] = [];
  const log = (level: string, text: string) => void warned.push(`${level} ${text}`);

  test('that comes with the agent is the one of the documentation, without rules for requests', () => {
    expect(openDefaultPolicy(null, null, log).current('http')).toMatchObject({
      inbound: [],
      outbound: [{ actions: [{ type: 'add-headers' }] }],
    });
  });

  test('is read anew for each tunnel, and the last good one is used while the file is not', () => {
    writeFileSync(file, JSON.stringify({ inbound: [deny] }));
    const policy = openDefaultPolicy(file, null, log);
    expect(policy.current('http')).toEqual({ inbound: [deny] });
    writeFileSync(file, '{"inbound": [');
    expect(policy.current('http')).toEqual({ inbound: [deny] });
    expect(warned).toEqual(['warn the default policy cannot be used; the last good one is']);
    writeFileSync(file, '{"inbound": []}');
    expect(policy.current('http')).toEqual({ inbound: [] });
    expect(policy.lastGood).toEqual({ inbound: [] });
  });

  test('of the run before is used where the file is bad from the start', () => {
    writeFileSync(file, '{"inbounds": []}');
    expect(openDefaultPolicy(file, { inbound: [deny] }, log).current('http')).toEqual({ inbound: [deny] });
  });

  test('is an error that names the file where there never was a good one', () => {
    expect(() => openDefaultPolicy(file, null, log).current('http')).toThrow(PolicyError);
    expect(() => openDefaultPolicy(join(directory, 'none'), null, log).current('http')).toThrow(/none must be a file/);
    expect(() => readPolicyFile(file, 'http')).toThrow(/policy\.json\.inbounds is not known/);
  });

  test('gives tcp and tls what applies to them, and never drops the rules for connections', () => {
    const all = { inbound: [deny], outbound: [deny], enabled: true };
    expect(policyFor(all, 'tcp')).toEqual({ inbound: [deny], enabled: true });
    expect(policyFor({ on_tcp_connect: [deny], on_http_request: [deny] }, 'tls')).toEqual({ on_tcp_connect: [deny] });
    expect(policyFor(all, 'https')).toEqual(all);
  });
});

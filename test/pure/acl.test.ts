import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AclError, allows, type BindTarget, parseAclRule } from '../../src/tunnel/control/acl.ts';

describe('a rule is well formed:', () => {
  test.each([
    '*',
    'bind:*',
    'bind:example.com',
    'bind:EXAMPLE.com',
    'bind:xn--bcher-kva.example',
    'bind:*.example.com',
    'bind:*.a.b.example.com',
    'bind:1.tcp.example.com:20000',
    'bind:1.tcp.example.com:1',
    'bind:1.tcp.example.com:65535',
    'bind:app=shop',
    'bind:app=*',
    'bind:*=shop',
    'bind:*=*',
    'bind:key=a=b',
  ])('%s', (rule) => {
    expect(() => parseAclRule(rule)).not.toThrow();
  });
});

describe('a rule is refused:', () => {
  test.each([
    '',
    'bind',
    'bind:',
    'BIND:example.com',
    ' bind:example.com',
    'allow:example.com',
    'example.com',
    '**',
    'bind:*example.com',
    'bind:*.*.com',
    'bind:a.*.example.com',
    'bind:*.',
    'bind:.example.com',
    'bind:example..com',
    'bind:example.com.',
    'bind:-example.com',
    'bind:example-.com',
    'bind:exa mple.com',
    'bind:exämple.com',
    'bind:example.com/path',
    'bind:https://example.com',
    'bind:example.com:',
    'bind:example.com:0',
    'bind:example.com:080',
    'bind:example.com:65536',
    'bind:example.com:-1',
    'bind:example.com:http',
    'bind:example.com:*',
    'bind::20000',
    'bind:*.example.com:20000',
    'bind:=shop',
    'bind:app=',
    'bind:=',
    'bind:app*=shop',
    'bind:app=sh*',
    `bind:${'a'.repeat(64)}.com`,
    `bind:${'a.'.repeat(127)}com`,
    `bind:app=${'x'.repeat(1024)}`,
  ])('%s', (rule) => {
    expect(() => parseAclRule(rule)).toThrow(AclError);
  });
});

const domain = (name: string): BindTarget => ({ type: 'domain', domain: name });
const address = (host: string, port: number | null): BindTarget => ({ type: 'address', host, port });
const label = (key: string, value: string): BindTarget => ({ type: 'label', key, value });

describe('rules allow a bind, or not:', () => {
  test.each<[string[], BindTarget, boolean]>([
    [[], domain('example.com'), true],
    [[], address('1.tcp.example.com', null), true],
    [['*'], domain('example.com'), true],
    [['*'], label('app', 'shop'), true],
    [['bind:*'], address('1.tcp.example.com', null), true],

    [['bind:*.example.com'], domain('x.example.com'), true],
    [['bind:*.example.com'], domain('a.b.example.com'), true],
    [['bind:*.example.com'], domain('*.example.com'), true],
    [['bind:*.example.com'], domain('example.com'), false],
    [['bind:*.example.com'], domain('badexample.com'), false],
    [['bind:*.example.com'], domain('x.example.com.evil.test'), false],
    [['bind:foo.example.app'], domain('foo.example.app'), true],
    [['bind:foo.example.app'], domain('bar.foo.example.app'), false],
    [['bind:foo.example.app'], domain('*.example.app'), false],
    [['bind:Foo.Example.app'], domain('foo.example.APP'), true],
    [['bind:*.Example.com'], domain('X.example.COM'), true],

    [['bind:1.tcp.example.com:20002'], address('1.tcp.example.com', 20002), true],
    [['bind:1.tcp.example.com:20002'], address('1.TCP.example.com', 20002), true],
    [['bind:1.tcp.example.com:20002'], address('1.tcp.example.com', 20003), false],
    [['bind:1.tcp.example.com:20002'], address('2.tcp.example.com', 20002), false],
    [['bind:1.tcp.example.com:20002'], address('1.tcp.example.com', null), false],

    [['bind:foo=bar'], label('foo', 'bar'), true],
    [['bind:foo=bar'], label('foo', 'Bar'), false],
    [['bind:foo=bar'], label('Foo', 'bar'), false],
    [['bind:*=example'], label('x', 'example'), true],
    [['bind:*=example'], label('x', 'other'), false],
    [['bind:app=*'], label('app', 'y'), true],
    [['bind:app=*'], label('other', 'y'), false],
    [['bind:*=*'], label('any', 'thing'), true],
    [['bind:*=*'], domain('example.com'), false],

    // A rule of one kind says nothing about the others.
    [['bind:1.tcp.example.com'], address('1.tcp.example.com', 20000), false],
    [['bind:1.tcp.example.com:443'], domain('1.tcp.example.com'), false],
    // One rule of several is enough; what is not a rule opens nothing.
    [['bind:a.example.com', 'bind:b.example.com'], domain('b.example.com'), true],
    [['bind:a.example.com', 'bind:b.example.com'], domain('c.example.com'), false],
    [['not a rule'], domain('example.com'), false],
  ])('%j and %j: %j', (rules, target, expected) => {
    expect(allows(rules, target)).toBe(expected);
  });
});

test('whatever the text, it is a rule or refused with a reason, and what is refused allows nothing', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('bind:', '*', '.', ':', '=', 'a', 'B', '9', '-', '_', ' ') }),
  );
  const targets = [domain('a.b'), address('a.b', 1), label('a', 'b')];
  fc.assert(
    fc.property(text, (rule) => {
      try {
        parseAclRule(rule);
      } catch (error) {
        expect(error).toBeInstanceOf(AclError);
        for (const target of targets) expect(allows([rule], target)).toBe(false);
      }
    }),
    { numRuns: 2000 },
  );
});

// Trying an ACL before a credential gets it.

import { beforeAll, describe, expect, test } from 'vitest';
import { nameRequest, newCredential, openSession, reserve } from '../support/agents/live.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

async function tryAcl(acl: string[], binds?: string[]) {
  const { body } = await account.graphql(
    `query ($acl: [String!]!, $binds: [String!]) { tryAcl(acl: $acl, binds: $binds) {
      isValid rules { rule isValid message } binds { bind isAllowed message } } }`,
    { acl, ...(binds ? { binds } : {}) },
  );
  return body.errors ? { error: body.errors[0] } : body.data.tryAcl;
}

test.each([
  ['*', 'Allows everything: any name, any address and any label.'],
  ['bind:*', 'Allows everything: any name, any address and any label.'],
  ['bind:Shop.example.com', 'Allows the name shop.example.com, and no name below it.'],
  ['bind:*.example.com', 'Allows any name below example.com, and *.example.com itself.'],
  ['bind:1.example.com:20000', 'Allows TCP port 20000 at 1.example.com.'],
  ['bind:app=shop', 'Allows the label "app" with the value "shop".'],
  ['bind:app=*', 'Allows the label "app" with any value.'],
  ['bind:*=shop', 'Allows any label with the value "shop".'],
  ['bind:*=*', 'Allows any label.'],
])('the rule %s is told in words', async (rule, message) => {
  expect(await tryAcl([rule])).toEqual({ isValid: true, rules: [{ rule, isValid: true, message }], binds: [] });
});

const forms =
  'A rule is "*", or "bind:" and a domain (example.com, *.example.com), an address (1.example.com:20000) or a label ' +
  '(key=value).';

test.each([
  ['example.com', 'Not right: it must be "*" or begin with "bind:". Did you mean "bind:example.com"?'],
  ['app=shop', 'Not right: it must be "*" or begin with "bind:". Did you mean "bind:app=shop"?'],
  [' bind:*.example.com ', 'Not right: it must be "*" or begin with "bind:". Did you mean "bind:*.example.com"?'],
  ['BIND: https://example.com/', 'Not right: it must be "*" or begin with "bind:". Did you mean "bind:example.com"?'],
  ['bind:example.com.', 'Not right: "example.com." is not a domain name. Did you mean "bind:example.com"?'],
  ['bind:example.com:0', `Not right: the port must be from 1 to 65535. ${forms}`],
  [
    'bind:*example.com',
    `Not right: "*" may only be the whole first part of a domain, or a whole label key or value. ${forms}`,
  ],
  ['bind:', `Not right: nothing follows "bind:". ${forms}`],
  ['', `Not right: it must be "*" or begin with "bind:". ${forms}`],
])('of the rule %j it is told what is wrong, and what would be right', async (rule, message) => {
  const { isValid, rules } = await tryAcl(['*', rule]);
  expect(isValid).toBe(false);
  expect(rules[0].isValid).toBe(true);
  expect(rules[1]).toEqual({ rule, isValid: false, message });
});

test('a rule as long as a request can be is refused without much work', async () => {
  const before = process.cpuUsage();
  const { rules } = await tryAcl([`${'.'.repeat(60_000)}x`]);
  const { user, system } = process.cpuUsage(before);
  expect(rules[0].message).toBe(`Not right: it must be at most 1024 bytes. ${forms}`);
  expect((user + system) / 1000).toBeLessThan(500);
});

test('it is told which rule allows what an agent might bind', async () => {
  const acl = ['bind:*.example.com', 'bind:1.example.org:20000', 'bind:app=*', 'nonsense'];
  const trial = await tryAcl(acl, [
    'a.example.com',
    'A.B.example.com',
    'example.com',
    '1.example.org:20000',
    '1.example.org:20001',
    'app=shop',
    'App=shop',
    '*.example.com',
  ]);
  expect(trial).toMatchObject({ isValid: false, rules: acl.map((rule) => ({ rule })) });
  expect(
    trial.binds.map(({ isAllowed, message }: { isAllowed: boolean; message: string }) => [isAllowed, message]),
  ).toEqual([
    [true, 'Allowed by bind:*.example.com.'],
    [true, 'Allowed by bind:*.example.com.'],
    [false, 'Denied: no rule allows example.com.'],
    [true, 'Allowed by bind:1.example.org:20000.'],
    [false, 'Denied: no rule allows 1.example.org:20001.'],
    [true, 'Allowed by bind:app=*.'],
    [false, 'Denied: no rule allows App=shop.'],
    [true, 'Allowed by bind:*.example.com.'],
  ]);
});

test('without rules, nothing is denied', async () => {
  expect(await tryAcl([], ['a.example.com'])).toEqual({
    isValid: true,
    rules: [],
    binds: [{ bind: 'a.example.com', isAllowed: true, message: 'Allowed: there are no rules, so nothing is denied.' }],
  });
});

test.each(['', '*', 'a b', 'https://a.example.com', 'a.example.com:0', '=x'])('nobody can bind %j', async (bind) => {
  const { binds } = await tryAcl(['*'], [bind]);
  expect(binds).toEqual([{ bind, isAllowed: false, message: expect.stringMatching(/^Not right: .* Try a name \(/) }]);
});

describe('what it says is what happens', () => {
  const rules = [
    ...['*', 'bind:*', 'bind:one.tunnel.localhost', 'bind:*.tunnel.localhost', 'bind:tunnel.localhost', 'bind:app=*'],
    ...['one.tunnel.localhost', 'bind:*.*.localhost', 'bind:tunnel.localhost:20000'],
  ];

  test('a credential takes the rules that are right, and no others', async () => {
    for (const rule of rules) {
      const { status } = await account.call('POST', '/credentials', { acl: [rule] });
      expect((await tryAcl([rule])).isValid, rule).toBe(status === 201);
    }
  });

  test('an agent can bind what is allowed, and nothing else', async () => {
    const names = ['one.tunnel.localhost', 'two.tunnel.localhost'];
    for (const name of names) await reserve(account, name);
    for (const rule of rules) {
      const trial = await tryAcl([rule], names);
      if (!trial.isValid) continue;
      const sessionId = await openSession(gateway, await newCredential(account, { acl: [rule] }));
      for (const [index, name] of names.entries()) {
        const answer = await gateway.registrar.bind(nameRequest(sessionId, name));
        const refused = 'refused' in answer ? answer.refused : null;
        expect(refused, `${rule} ${name}`).toBe(trial.binds[index].isAllowed ? null : 'nameDenied');
      }
      await gateway.registrar.sessionClosed(sessionId, 0);
    }
  });
});

test('it needs no admin, but a key', async () => {
  const member = await account.addOwner();
  const query = '{ tryAcl(acl: []) { isValid } }';
  expect((await member.graphql(query)).body.data).toEqual({ tryAcl: { isValid: true } });
  const { body } = await member.graphql(query, {}, { key: null });
  expect(body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

test('it has the limits of a credential, and one of its own', async () => {
  expect((await tryAcl(Array(500).fill('*'), Array(100).fill('a.example.com'))).isValid).toBe(true);
  expect((await tryAcl(Array(501).fill('*'))).error).toMatchObject({ message: 'acl may have at most 500 rules.' });
  expect((await tryAcl([], Array(101).fill('a.com'))).error).toMatchObject({
    message: 'binds may have at most 100 entries.',
    extensions: { code: 'BAD_USER_INPUT', errorCode: 'ERR_GATEWAY_90253', field: 'binds' },
  });
});

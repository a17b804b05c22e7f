// The secrets of a policy are taken out of its text, which stays as it was but for them, and put back.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { actionKinds } from '../../src/policy/actions/registry.ts';
import { joinPolicy, keepSecrets, splitPolicy } from '../../src/policy/secrets/policy-secrets.ts';
import { readPolicyDocument } from '../../src/policy/settings/policy-text.ts';
import { secretMembers } from '../../src/protocol/policy/policy-secrets.ts';

const PASSWORD = 'canary-0123456789';

/** @returns what is shown of a policy; it is checked that nothing is lost. */
function shown(text: string): string {
  const split = splitPolicy(text, 'https');
  expect(split.value).not.toContain(PASSWORD);
  expect(readPolicyDocument(joinPolicy(split))).toEqual(readPolicyDocument(text));
  return split.value;
}

const basicAuth = (credentials: string) => `# who may come in
on_http_request:
  - name: people   # of the office
    actions:
      - type: basic-auth
        config:
          credentials: ${credentials}
          realm: "a"
  - actions: [{ type: log, config: { metadata: { a: 1.0 } } }]
`;
const webhook = (secret: string) => `on_http_request:
  - actions:
      - type: verify-webhook
        config:
          secret: ${secret}
          provider: github # theirs
`;

describe('but for the secret, the text stays as it was:', () => {
  test.each([
    ['in quotes', basicAuth(`["office:${PASSWORD}"]`), basicAuth('["office:<secret>"]')],
    ['in single quotes', basicAuth(`['office:${PASSWORD}']`), basicAuth('["office:<secret>"]')],
    [
      'without quotes',
      basicAuth(`[ office:${PASSWORD} , b:${PASSWORD} ]`),
      basicAuth('[ "office:<secret>" , "b:<secret>" ]'),
    ],
    [
      'in lines of a list',
      basicAuth(`\n            - office:${PASSWORD} # his`),
      basicAuth('\n            - "office:<secret>" # his'),
    ],
    ['behind a tag', webhook(`!!str ${PASSWORD}`), webhook('!!str "<secret>"')],
    ['behind an anchor', webhook(`&mine ${PASSWORD}`), webhook('&mine "<secret>"')],
    ['as a block of lines', webhook(`|-\n            ${PASSWORD}\n            more`), webhook('"<secret>"')],
    ['as a folded block', webhook(`>+\n            ${PASSWORD}\n\n`), webhook('"<secret>"')],
    ['over several lines', webhook(`"${PASSWORD}\n            more"`), webhook('"<secret>"')],
    ['escaped', webhook('"\\x63anary-\\u0030123456789"'), webhook('"<secret>"')],
    ['computed', webhook(`"\${'${PASSWORD}'}"`), webhook('"<secret>"')],
    ['with a user name that is computed', basicAuth(`["\${'a:${PASSWORD}'}:b"]`), basicAuth('["<secret>"]')],
    ['with colons', basicAuth(`["office:a:${PASSWORD}"]`), basicAuth('["office:<secret>"]')],
    ['without a user name', basicAuth(`["${PASSWORD}"]`), basicAuth('["<secret>"]')],
  ])('%s', (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  test('in JSON, with its blanks', () => {
    const json = (secret: string) =>
      `{ "inbound" : [\n\t{"actions":[ {"type":"webhook-validation", "config":{"secret":${secret},"provider":"github"}} ]} ] }\n`;
    expect(shown(json(`"${PASSWORD}"`))).toBe(json('"<secret>"'));
    expect(shown(json('"\\u0063anary-0123456789"'))).toBe(json('"<secret>"'));
  });
});

describe('by an alias', () => {
  const all = (list: string) => `  - actions: [{ type: basic-auth, config: { credentials: ${list} } }] # a rule\n`;
  const twice = (pair: string) => `on_http_request:\n${all(`&all [${pair}]`)}${all('*all')}`;

  test('a secret is masked where it is written', () => {
    expect(shown(twice(`a:${PASSWORD}`))).toBe(twice('"a:<secret>"'));
    const named = (name: string) => webhook('*mine').replace('- actions', `- name: &mine ${name}\n    actions`);
    expect(shown(named(PASSWORD))).toBe(named('"<secret>"'));
  });

  test('it is kept in all of its places', () => {
    const [before, now] = [splitPolicy(twice(`a:${PASSWORD}`), 'https'), splitPolicy(twice('"a:<secret>"'), 'https')];
    const kept = keepSecrets(now, before.secrets, 'https');
    expect(kept.value).toBe(twice('"a:<secret>"'));
    expect(readPolicyDocument(joinPolicy(kept))).toEqual(before.document);
    expect(kept.document).toEqual(before.document);
  });

  test.each([
    ['an answer', '  - actions: [{ type: custom-response, config: { body: *stolen } }]\n'],
    [
      'an action of another type',
      '  - actions: [{ type: verify-webhook, config: { provider: github, secret: *stolen } }]\n',
    ],
    ['another place', all('[*stolen]')],
    ['a name', '  - name: *stolen\n    actions: [{ type: deny }]\n'],
  ])('it does not come to %s', (_, thief) => {
    const own = splitPolicy(`on_http_request:\n${all(`["a:${PASSWORD}"]`)}`, 'https');
    const theirs = splitPolicy(`on_http_request:\n${all('[&stolen "a:<secret>"]')}${thief}`, 'https');
    const kept = keepSecrets(theirs, own.secrets, 'https');
    const [first, second] = (readPolicyDocument(joinPolicy(kept)) as { on_http_request: object[] }).on_http_request;
    expect(JSON.stringify(first)).toContain(PASSWORD);
    expect(JSON.stringify(second)).toContain('a:<secret>');
    expect(JSON.stringify(second)).not.toContain(PASSWORD);
  });
});

test('with the secrets that it keeps, a policy that would be too long in YAML is kept in JSON', () => {
  const policy = (secret: string) => `# ${'-'.repeat(60_000)}\n${webhook(secret)}`;
  const long = `${PASSWORD}${'x'.repeat(10_000)}`;
  const before = splitPolicy(webhook(long), 'https');
  const kept = keepSecrets(splitPolicy(policy('"<secret>"'), 'https'), before.secrets, 'https');
  expect(readPolicyDocument(joinPolicy(kept))).toEqual(before.document);
  expect(JSON.parse(kept.value)).toEqual(readPolicyDocument(webhook('"<secret>"')));
});

describe('the text becomes that of the document:', () => {
  test('a member that stands twice in JSON', () => {
    const text = `{"on_http_request":[{"actions":[{"type":"verify-webhook","config":{"secret":"${PASSWORD}","secret":"${PASSWORD}2"}}]}]}`;
    expect(shown(text)).toBe(JSON.stringify(JSON.parse(text)).replace(`${PASSWORD}2`, '<secret>'));
  });

  test('a text that masks would make longer than one may be', () => {
    const action = '      - { type: verify-webhook, config: { provider: github, secret: a } }\n';
    const text = `on_http_request:\n${`  - actions:\n${action.repeat(40)}`.repeat(22)}`;
    expect(text.length).toBeGreaterThan(63_000);
    const value = shown(text);
    expect(value).toBe(JSON.stringify(readPolicyDocument(text)).replaceAll('"secret":"a"', '"secret":"<secret>"'));
  });
});

test('a policy without secrets stays as it is, whatever it is', () => {
  for (const text of [
    '',
    '[]',
    'null',
    '{}',
    'on_http_request: 7',
    'a: &a [1]\nb: *a',
    '{"on_http_request":[{"actions":[null]}]}',
    `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}, "on_http_request":[{"actions":[{"type":"basic-auth","config":{"credentials":["a:b"]}}]}]}`,
  ])
    expect(splitPolicy(text, 'https')).toMatchObject({ value: text, secrets: [] });
});

test('whatever a secret is, JSON and YAML have it back, and show nothing of it', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 });
  const style = fc.constantFrom('PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED');
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 3 }),
      text,
      style,
      fc.boolean(),
      (secrets, other, type, flow) => {
        const canary = (secret: string) => `${PASSWORD}${secret}`;
        const document = {
          on_http_request: [
            {
              name: other,
              actions: [{ type: 'basic-auth', config: { credentials: secrets.map((s) => `u:${canary(s)}`) } }],
            },
            {
              actions: [
                { type: 'verify-webhook', config: { secret: canary(other), provider: 'github' } },
                { type: 'deny' },
              ],
            },
          ],
        };
        shown(JSON.stringify(document, null, flow ? 2 : 0));
        shown(stringify(document, { defaultStringType: type, collectionStyle: flow ? 'flow' : 'any' } as object));
      },
    ),
    { numRuns: 300 },
  );
});

describe('no action forgets a secret', () => {
  /** What such members are called. */
  const TELLING = /secret|password|passphrase|private|credential|token|api_?key|cookies?$/;

  test.each(actionKinds.map((kind) => [kind.type, kind] as const))('%s', (_, { type, members }) => {
    const marked = secretMembers(type).map(({ name }) => name);
    expect(members.filter((name) => TELLING.test(name)).sort()).toEqual([...marked].sort());
  });
});

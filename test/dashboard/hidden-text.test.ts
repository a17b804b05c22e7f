// Characters that hide in texts, and texts that must not be kept or shown as they are.

import { expect, test } from 'vitest';
import { failureInResponse } from '../../src/dashboard/data/client/api-failure.ts';
import { mayHoldSecret } from '../../src/dashboard/screens/edges/modules/policy/typed-secrets.ts';
import { headerBytes, headerText } from '../../src/dashboard/screens/traffic/bytes.ts';
import { inWordsOfTheForm, problemsAt } from '../../src/dashboard/ui/forms/form-context.ts';
import { hiddenCharacters, visibleText } from '../../src/dashboard/ui/text/visible-text.ts';

test.each([
  ['turned by an override', 'a\u202eb', 'a⟨U+202E⟩b'],
  ['turned by an isolate', '\u2067a\u2069', '⟨U+2067⟩a⟨U+2069⟩'],
  ['an Arabic letter mark', 'a\u061cb', 'a⟨U+061C⟩b'],
  ['a zero-width space', 'pay\u200bpal', 'pay⟨U+200B⟩pal'],
  ['a joiner in Latin', 'pay\u200dpal', 'pay⟨U+200D⟩pal'],
  ['a soft hyphen', 'pay\u00adpal', 'pay⟨U+00AD⟩pal'],
  ['a byte order mark', '\ufeffkey', '⟨U+FEFF⟩key'],
  ['a filler that looks like a blank', 'a\u3164b', 'a⟨U+3164⟩b'],
  ['a control character', 'a\u0007b', 'a⟨U+0007⟩b'],
  ['a line separator', 'a\u2028b', 'a⟨U+2028⟩b'],
])('%s is shown', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test.each([
  ['lines and tabs', 'a\tb\r\nc'],
  ['German', 'Größe'],
  ['Hebrew and Arabic', 'שלום مرحبا'],
  ['Persian with a joiner', 'می\u200cخواهم'],
  ['emoji of several parts', '👩\u200d💻 ❤️'],
])('%s stay as they are', (_, text) => {
  expect(visibleText(text)).toBe(text);
});

test('each hidden character is named once', () => {
  expect(hiddenCharacters('\u200ba\u200bb\u202e')).toEqual(['U+200B', 'U+202E']);
});

test('header values in UTF-8 are shown as text, and others as they came', () => {
  const bytes = headerBytes('Zoë, 東京');
  expect(bytes).toMatch(/^[ -~\u0080-\u00ff]+$/);
  expect(headerText(bytes)).toBe('Zoë, 東京');
  expect(headerText('caf\u00e9')).toBe('caf\u00e9');
  expect(headerText('plain')).toBe('plain');
});

test.each([
  ['hostports[1]', 'input.hostports[1] is not reserved.', '“Names”, number 2 is not reserved.'],
  ['hostports', 'hostports must not be empty.', '“Names” must not be empty.'],
  ['acl', 'acl has too many rules.', '“Names” has too many rules.'],
  ['match', 'Another route has the same match.', 'Another route has the same “Names”.'],
  ['acl', 'The oracle of acl is silent.', 'The oracle of “Names” is silent.'],
])('the path %s in an error becomes the label of its field', (member, message, shown) => {
  expect(inWordsOfTheForm({ member, message }, 'Names')).toBe(shown);
});

test('each field is marked with what is wrong with it, whatever else is', () => {
  const problems = [
    { path: ['input', 'acl', 2], message: 'acl[2] is no rule.' },
    { path: ['input', 'description'], message: 'description is too long.' },
    { path: ['input', 'acl', 4], message: 'acl[4] is no rule.' },
    { path: ['id'], message: 'id is required.' },
  ];
  const body = { errors: [{ message: 'acl[2] is no rule.', extensions: { code: 'BAD_USER_INPUT', problems } }] };
  const failure = failureInResponse(body, { status: 200, retryAfter: undefined });
  const at = (name: string) => problemsAt(failure ?? { problems: [] }, name).map(({ member }) => member);
  expect([at('acl'), at('description'), at('id'), at('desc')]).toEqual([
    ['acl[2]', 'acl[4]'],
    ['description'],
    ['id'],
    [],
  ]);
});

test.each([
  'type: verify-webhook\nconfig:\n  secret: abc',
  '{"config":{"credentials":["user:password"]}}',
  'headers:\n  authorization: Bearer abc',
  'client_secret: |\n  abc',
])('a policy that may hold a secret is never kept as a draft: %j', (text) => {
  expect(mayHoldSecret(text)).toBe(true);
});

test.each(['secret: <secret>', 'secret: "<secret>"', 'type: deny', 'headers:\n  x-site: berlin'])(
  'other policies are: %j',
  (text) => {
    expect(mayHoldSecret(text)).toBe(false);
  },
);

import { expect, test } from 'vitest';
import { describeJsonError } from '../../src/protocol/messages/json-reader.ts';

/** What is wrong with a text. */
function mistakeIn(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return describeJsonError(error);
  }
}

test.each([
  ['canary', /unexpected token/i],
  ['{"secret": canary}', /unexpected token/i],
  [`{"secret": "${'a'.repeat(100)}", canary "${'b'.repeat(100)}"}`, /./],
  [`{"secret": "canary\n"}`, /control character/i],
  ['{"secret": "canary', /unterminated/i],
  ['"canary" is not valid JSON', /./],
  [`"canary" "x", ..."canary"... is not valid JSON`, /./],
])('what is wrong with %j is told without it', (text, expected) => {
  expect(mistakeIn(text)).toMatch(expected);
  expect(mistakeIn(text)).not.toMatch(/can|ary/);
});

import { expect, test } from 'vitest';
import { isId, newId, newSecret } from '../../src/store/ids.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The 20 bytes of a KSUID, as hexadecimal. */
function payload(id: string): string {
  const digits = id.slice(id.indexOf('_') + 1);
  const number = [...digits].reduce((sum, digit) => sum * 62n + BigInt(ALPHABET.indexOf(digit)), 0n);
  return number.toString(16).padStart(40, '0');
}

function expectIncreasing(ids: string[]): void {
  const wrong = ids.findIndex((id, index) => index > 0 && id <= (ids[index - 1] ?? ''));
  expect(wrong, `${ids[wrong - 1]} is followed by ${ids[wrong]}`).toBe(-1);
}

test('an id is its prefix, an underscore and 27 letters and digits', () => {
  for (const prefix of ['cr', 'edghtsrt', 'op'] as const) {
    expect(newId(prefix)).toMatch(new RegExp(`^${prefix}_[0-9A-Za-z]{27}$`));
  }
});

test('an id tells the second in which it was made', () => {
  const now = Date.now();
  const seconds = Number.parseInt(payload(newId('cr', now)).slice(0, 8), 16);
  expect(seconds + 1_400_000_000).toBe(Math.floor(now / 1000));
});

test('a hundred thousand ids made one after the other are all different and strictly increasing', () => {
  const ids = Array.from({ length: 100_000 }, () => newId('cr'));
  expect(new Set(ids).size).toBe(ids.length);
  expectIncreasing(ids);
});

test('ids keep increasing while the clock stands still', () => {
  const now = Date.now();
  expectIncreasing(Array.from({ length: 5000 }, () => newId('cr', now)));
});

test('ids keep increasing when the clock goes back', () => {
  const now = Date.now();
  expectIncreasing(Array.from({ length: 1000 }, (_, index) => newId('cr', now - index * 60_000)));
});

test('ids of one moment share nothing in their 80 random bits', () => {
  const now = Date.now();
  const random = Array.from({ length: 1000 }, () => payload(newId('cr', now)).slice(20));
  expect(new Set(random).size).toBe(random.length);
});

test.each([
  ['another prefix', 'ak_2GUMwzzIDBoBHiFkQbcKPEmlmBA'],
  ['no prefix', '2GUMwzzIDBoBHiFkQbcKPEmlmBA'],
  ['too short', 'cr_2GUMwzzIDBoBHiFkQbcKPEmlmB'],
  ['too long', 'cr_2GUMwzzIDBoBHiFkQbcKPEmlmBAA'],
  ['a character that is no letter or digit', 'cr_2GUMwzzIDBoBHiFkQbcKPEmlmB-'],
  ['a line break at the end', 'cr_2GUMwzzIDBoBHiFkQbcKPEmlmB\n'],
  ['nothing', ''],
])('a text with %s is not the id of a credential', (_, text) => {
  expect(isId('cr', text)).toBe(false);
});

test('a secret names its id and has at least 128 random bits of its own', () => {
  const id = newId('cr');
  const secrets = Array.from({ length: 1000 }, () => newSecret(id));
  for (const secret of secrets) expect(secret).toMatch(new RegExp(`^${id.slice(3)}_[0-9A-Za-z]{22,}$`));
  expect(new Set(secrets).size).toBe(secrets.length);
});

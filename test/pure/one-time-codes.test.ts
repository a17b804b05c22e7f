// Codes of an app against the test vectors of the standards.

import { expect, test } from 'vitest';
import {
  base32,
  findTotpStep,
  newRecoveryCode,
  plainCode,
  totpCode,
  totpStep,
  totpUrl,
} from '../../src/store/sign-in/one-time-codes.ts';

const secret = Buffer.from('12345678901234567890');

test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('RFC 6238, appendix B: after %i s the code ends with %s', (seconds, code) => {
  expect(totpCode(secret, totpStep(seconds * 1000))).toBe(code);
});

test('RFC 4226, appendix D: the first ten codes', () => {
  expect(Array.from({ length: 10 }, (_, step) => totpCode(secret, step))).toEqual([
    ...['755224', '287082', '359152', '969429', '338314'],
    ...['254676', '287922', '162583', '399871', '520489'],
  ]);
});

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foobar', 'MZXW6YTBOI'],
])('RFC 4648, section 10: %j in Base32, without padding', (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded);
});

test('the steps before and after count, and no further ones', () => {
  const now = 1234567890_000;
  const step = totpStep(now);
  const found = [-2, -1, 0, 1, 2].map((distance) => findTotpStep(secret, totpCode(secret, step + distance), now));
  expect(found).toEqual([null, step - 1, step, step + 1, null]);
  expect(findTotpStep(secret, `${totpCode(secret, step)}0`, now)).toBeNull();
  expect(findTotpStep(secret, '', now)).toBeNull();
});

test('an app is told whose secret it is', () => {
  const url = new URL(totpUrl(secret, { issuer: 'Tunnel Gateway localhost', account: 'ann+ops@example.com' }));
  expect(decodeURIComponent(url.pathname)).toBe('/Tunnel Gateway localhost:ann+ops@example.com');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    secret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
    ...{ issuer: 'Tunnel Gateway localhost', algorithm: 'SHA1', digits: '6', period: '30' },
  });
});

test('a recovery code can be typed in capitals, with other spaces, or none', () => {
  const code = newRecoveryCode();
  expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  for (const typed of [code.toUpperCase(), code.replaceAll('-', ' '), ` ${code.replaceAll('-', '')}\n`])
    expect(plainCode(typed)).toBe(plainCode(code));
});

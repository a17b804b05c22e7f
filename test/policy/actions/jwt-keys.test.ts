// The keys of an issuer on this machine: kept, changed, and out of reach.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { guardedLookup, isOutsideAddress } from '../../../src/net/public-addresses.ts';
import { ReachableHosts } from '../../../src/net/reachable-hosts.ts';
import { fetchJson, fetchProblem } from '../../../src/policy/auth/fetch-json.ts';
import { fetchIssuerKeys, JwksCache } from '../../../src/policy/auth/jwks-cache.ts';
import { verifyToken } from '../../../src/policy/auth/jwt.ts';
import { notPublicError } from '../../../src/policy/keys/fetch-bytes.ts';
import { KeysUnavailable } from '../../../src/policy/keys/key-cache.ts';
import { eventually } from '../../support/eventually.ts';
import { NOON } from '../exchange-support.ts';
import { type Issuer, type KeyPair, keyPair, signed, startIssuer } from './issuer.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

let issuer: Issuer;
let old: KeyPair;
let now: number;
let keys: JwksCache;
const anywhere = new ReachableHosts([], true);
const outside = new ReachableHosts([]);

beforeEach(async () => {
  old = await keyPair('ES256', 'old');
  issuer = await startIssuer([old]);
  now = 0;
  keys = new JwksCache(
    () => fetchJson(issuer.jwks, anywhere),
    () => now,
  );
});

afterEach(() => issuer.close());

async function check(key: KeyPair, sets: readonly JwksCache[] = [keys]): Promise<string> {
  const rules = {
    issuers: [issuer.url],
    audiences: [],
    algorithms: ['ES256'],
    keySets: () => sets,
    time: () => NOON,
  };
  try {
    await verifyToken(await signed(key, { iss: issuer.url }), undefined, rules);
    return 'good';
  } catch (error) {
    return error instanceof KeysUnavailable ? `unavailable: ${error.message}` : 'bad';
  }
}

test('keys are fetched once in 15 minutes, however many visitors come at once', async () => {
  expect(await Promise.all(Array.from({ length: 20 }, () => check(old)))).toEqual(Array(20).fill('good'));
  now = 15 * MINUTE - 1;
  expect(await check(old)).toBe('good');
  expect(issuer.asked).toHaveLength(1);
  now = 15 * MINUTE;
  expect(await check(old)).toBe('good');
  await eventually(() => expect(issuer.asked).toHaveLength(2));
});

test('nobody waits for newer keys while those that are there are good', async () => {
  expect(await check(old)).toBe('good');
  const fresh = await keyPair('ES256', 'fresh');
  issuer.publish([fresh]);
  now = 15 * MINUTE;
  const release = issuer.hold();
  expect(await Promise.all(Array.from({ length: 20 }, () => check(old)))).toEqual(Array(20).fill('good'));
  now = 60 * MINUTE - 1;
  expect(await check(old)).toBe('good');
  // One fetch for all, which those wait for whose key is not there.
  const unknown = Promise.all([check(fresh), check(fresh)]);
  await eventually(() => expect(issuer.asked).toHaveLength(2));
  release();
  expect(await unknown).toEqual(['good', 'good']);
  expect([await check(old), issuer.asked.length]).toEqual(['bad', 2]);
});

test('an issuer that answers slowly is not waited for when another of its sets has the key', async () => {
  const slow = await startIssuer([]);
  const release = slow.hold();
  const clock = () => now;
  const known = new JwksCache(() => fetchJson(issuer.jwks, anywhere), clock);
  const sets = [new JwksCache(() => fetchJson(slow.jwks, anywhere), clock), known];
  expect(await check(old, [known])).toBe('good');
  expect(await check(old, sets)).toBe('good');
  expect(slow.asked).toEqual([]);
  release();
  await slow.close();
});

test('a new key is found half a minute after the last look, and a withdrawn one is not taken any more', async () => {
  expect(await check(old)).toBe('good');
  const fresh = await keyPair('ES256', 'fresh');
  issuer.publish([fresh]);
  now = 30 * SECOND - 1;
  expect(await check(fresh)).toBe('bad');
  expect(issuer.asked).toHaveLength(1);
  now = 30 * SECOND;
  expect(await check(fresh)).toBe('good');
  expect(await check(old)).toBe('bad');
});

test('while keys cannot be had, those that are there are used for up to an hour', async () => {
  expect(await check(old)).toBe('good');
  issuer.answer('/keys', '', 503);
  now = 60 * MINUTE - 1;
  expect(await check(old)).toBe('good');
  now = 60 * MINUTE;
  expect(await check(old)).toMatch(/^unavailable: .* could not be fetched: it answered 503$/);
});

test('nobody comes in before there are keys, and the issuer is asked again after 5 seconds', async () => {
  issuer.answer('/keys', 'no JSON');
  expect(await check(old)).toMatch(/^unavailable/);
  issuer.publish([old]);
  now = 5 * SECOND - 1;
  expect(await check(old)).toMatch(/^unavailable/);
  expect(issuer.asked).toHaveLength(1);
  now = 5 * SECOND;
  expect(await check(old)).toBe('good');
});

test('what is no set of keys, too large, moved, or nowhere cannot be had', async () => {
  for (const [body, status, location] of [
    ['[]'],
    ['null'],
    [JSON.stringify({ keys: 1 })],
    [JSON.stringify({ keys: [], padding: 'x'.repeat(512 * 1024) })],
    ['', 302, '/elsewhere'],
    ['', 404],
  ] as [string, number?, string?][]) {
    now += MINUTE;
    issuer.answer('/keys', body, status, location);
    expect([body.slice(0, 40), await check(old)]).toEqual([
      body.slice(0, 40),
      expect.stringMatching(/^unavailable: ./),
    ]);
  }
  expect(issuer.asked).not.toContain('/elsewhere');
  await issuer.close();
  await expect(fetchJson(issuer.jwks, anywhere)).rejects.toThrow(/could not be fetched: connect ECONNREFUSED/);
});

test('the configuration of an issuer has to be its own, and to say where the keys are', async () => {
  const configure = (configuration: unknown) => issuer.answer('/.well-known/openid-configuration', configuration);
  expect(await fetchIssuerKeys(issuer.url, anywhere)).toEqual({ keys: [old.jwk] });
  for (const [configuration, told] of [
    [{ issuer: 'https://other.example.com', jwks_uri: issuer.jwks }, /of another issuer/],
    [{ issuer: issuer.url }, /has no jwks_uri/],
    [{ issuer: issuer.url, jwks_uri: 'http://keys.example.com/' }, /must be a URL that begins with https/],
    [null, /of another issuer/],
  ] as const) {
    configure(configuration);
    await expect(fetchIssuerKeys(issuer.url, anywhere)).rejects.toThrow(told);
  }
});

test('without TLS, only this machine is asked', () => {
  for (const url of [
    'https://a.example.com/x',
    'http://localhost:1/',
    'http://127.0.0.9/',
    'http://[::1]:8/',
    'http://a.localhost',
  ])
    expect([url, fetchProblem(url, anywhere)]).toEqual([url, undefined]);
  for (const url of [
    'http://a.example.com/',
    'http://127.0.0.1.example.com/',
    'http://10.0.0.1/',
    'ftp://localhost/',
    'x',
    '',
  ])
    expect([url, fetchProblem(url, anywhere)]).toEqual([url, expect.stringMatching(/^must be a URL/)]);
});

describe('unless the operator allows it', () => {
  test.each([
    'https://localhost/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://10.1.2.3/keys',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://[fd00::1]/',
    'https://2130706433/',
  ])('%s is refused when it is written', (url) => {
    expect(fetchProblem(url, outside)).toMatch(/^must be at a public address/);
  });

  test('this machine is not asked over HTTP, and public addresses are no problem', () => {
    expect(fetchProblem('http://localhost/', outside)).toMatch(/^must be a URL that begins with https/);
    expect(fetchProblem('https://keys.example.com/', outside)).toBeUndefined();
    expect(fetchProblem('https://1.1.1.1/', outside)).toBeUndefined();
  });

  test('what the operator names for static backends is reached, and an address of this machine is not, although it is public', () => {
    const listed = new ReachableHosts(['keys.internal', '10.1.2.0/24', 'localhost']);
    for (const host of ['keys.internal', '10.1.2.3', 'localhost', 'keys.example.com'])
      expect([host, fetchProblem(`https://${host}/`, listed)]).toEqual([host, undefined]);
    expect(fetchProblem('https://10.1.3.3/', listed)).toMatch(/^must be at a public address \(BACKEND_HOSTS/);
    expect(listed.ruleOf('keys.internal')('10.9.9.9')).toBe(true);
    expect(listed.ruleOf('keys.example.com')('10.9.9.9')).toBe(false);
    expect(isOutsideAddress('1.1.1.1', ['192.168.0.2', '::ffff:1.1.1.1'])).toBe(false);
    expect(isOutsideAddress('2606:4700::1111', ['2606:4700:0::1111'])).toBe(false);
    expect(isOutsideAddress('1.1.1.1', ['192.168.0.2'])).toBe(true);
  });

  test('a name that leads to an address of this network leads nowhere', async () => {
    const lookup = guardedLookup(isOutsideAddress, notPublicError);
    const found = await new Promise((resolve) => lookup('localhost', {}, (error) => resolve(error?.message)));
    expect(found).toMatch(/^its address (127\.0\.0\.1|::1) is not a public one$/);
  });
});

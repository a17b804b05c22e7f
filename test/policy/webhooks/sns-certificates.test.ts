// The certificates that messages of Amazon SNS name: fetched, kept, wrong, and out of reach.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ReachableHosts } from '../../../src/net/reachable-hosts.ts';
import type { FetchReach } from '../../../src/policy/keys/fetch-bytes.ts';
import { KeysUnavailable } from '../../../src/policy/keys/key-cache.ts';
import { SigningKeys } from '../../../src/policy/webhooks/signing-keys.ts';
import { eventually } from '../../support/eventually.ts';
import { newIssuer } from '../../support/issuer.ts';
import { environmentOf, NOON } from '../exchange-support.ts';
import {
  CERTIFICATE_URL,
  type CertificateHost,
  HOST,
  newSigner,
  SHORT_KEY,
  type SignedBy,
  type SignerWanted,
  startCertificateHost,
} from './sns-sender.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

let signer: SignedBy;
let host: CertificateHost;
beforeAll(async () => {
  signer = await newSigner();
  host = await startCertificateHost(signer.pem);
});
afterAll(() => host.close());
beforeEach(() => {
  host.asked.length = 0;
  host.connections = 0;
  host.publish(signer.pem);
});

/** Those who know no certificate yet. */
function fresh(reach: Partial<FetchReach> = {}) {
  const environment = environmentOf();
  const keys = new SigningKeys({ hosts: new ReachableHosts([], true), standIn: host.standIn, ...reach }, environment);
  /** What comes of a look for a key. */
  const find = (url = CERTIFICATE_URL, accountId = 'ac_1') =>
    keys.find(url, accountId).then(
      ({ asymmetricKeyType }) => asymmetricKeyType,
      (error) => (error instanceof KeysUnavailable ? `unavailable: ${error.message}` : error),
    );
  return { find, pass: environment.pass };
}

const unavailable = (reason: string) => `unavailable: ${CERTIFICATE_URL} cannot be used: ${reason}`;

test('a certificate is fetched once in an hour, however many messages come at once', async () => {
  const { find, pass } = fresh();
  expect(await Promise.all(Array.from({ length: 20 }, () => find()))).toEqual(Array(20).fill('rsa'));
  pass(HOUR - 1);
  expect(await find()).toBe('rsa');
  expect(host.asked).toEqual([CERTIFICATE_URL]);
  pass(1);
  expect(await find()).toBe('rsa');
  await eventually(() => expect(host.asked).toHaveLength(2)); // Nobody waits for it.
});

test('one that cannot be fetched again is used for a day, and looked for every 5 seconds', async () => {
  const lasting = await newSigner({ notAfter: new Date(NOON + 48 * HOUR), keys: signer.keys });
  host.publish(lasting.pem);
  const { find, pass } = fresh();
  expect(await find()).toBe('rsa');
  host.publish('', 503);
  pass(24 * HOUR - 5 * SECOND);
  for (let i = 0; i < 5; i++) expect(await find()).toBe('rsa');
  await eventually(() => expect(host.asked).toHaveLength(2));
  pass(5 * SECOND);
  expect(await find()).toBe(unavailable('it answered 503'));
});

test('one that cannot be had is looked for again after 5 seconds, however many ask', async () => {
  const { find, pass } = fresh();
  host.publish('', 500);
  for (let i = 0; i < 10; i++) expect(await find()).toBe(unavailable('it answered 500'));
  host.publish(signer.pem);
  pass(5 * SECOND - 1);
  expect(await find()).toBe(unavailable('it answered 500'));
  expect(host.asked).toHaveLength(1);
  pass(1);
  expect(await find()).toBe('rsa');
});

test('what is no certificate, too large, moved, or not there cannot be had', async () => {
  for (const [body, status, reason, headers] of [
    ['no certificate', 200, 'it is no certificate in PEM', {}],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 200, '', {}],
    [`${signer.pem}${'\n'.repeat(64 * 1024)}`, 200, 'it has more than 65536 bytes', {}],
    ['', 301, 'it answered 301', { location: `https://${HOST}/moved.pem` }],
    ['', 302, 'it answered 302', { location: `http://127.0.0.1/` }],
    [signer.pem, 404, 'it answered 404', {}],
  ] as const) {
    host.publish(body, status, headers);
    expect(await fresh().find()).toMatch(unavailable(reason));
  }
  expect(host.asked).toEqual(Array(6).fill(CERTIFICATE_URL));
});

test('a host that takes too long, or breaks off, cannot be waited for', async () => {
  host.answer = () => undefined;
  expect(await fresh({ timeout: 30 }).find()).toMatch(unavailable(''));
  host.answer = (response) => void response.writeHead(200).write(signer.pem.slice(0, 100));
  expect(await fresh({ timeout: 30 }).find()).toMatch(unavailable(''));
  host.answer = (response) => {
    response.writeHead(200, { 'content-length': signer.pem.length });
    response.write(signer.pem.slice(0, 100), () => response.destroy());
  };
  expect(await fresh().find()).toMatch(unavailable(''));
});

describe('a certificate is one of Amazon SNS, for now, with a key of RSA:', () => {
  const day = 24 * HOUR;
  test.each<[string, SignerWanted, string]>([
    ['of all regions', { subject: 'CN=sns.amazonaws.com, O=Amazon' }, 'rsa'],
    ['of a region', { subject: 'CN=sns.us-east-1.amazonaws.com' }, 'rsa'],
    ['of China', { subject: 'CN=sns.cn-north-1.amazonaws.com.cn' }, 'rsa'],
    ['by the name of its host', { subject: 'O=Amazon', dns: 'sns.us-east-1.amazonaws.com' }, 'rsa'],
    ['of another service', { subject: 'CN=sqs.amazonaws.com' }, 'its subject is not Amazon SNS'],
    ['of a name below another', { subject: 'CN=sns.amazonaws.com.evil.example' }, 'its subject is not Amazon SNS'],
    ['of an organization of this name', { subject: 'O=sns.amazonaws.com' }, 'its subject is not Amazon SNS'],
    ['with another kind of key', { algorithm: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } }, 'RSA'],
    ['with a short key', { algorithm: SHORT_KEY }, 'its key is not one of RSA with 2048 to 8192 bits'],
    ['that is over', { notAfter: new Date(NOON - SECOND) }, 'is not valid at this time'],
    ['that is not there yet', { notBefore: new Date(NOON + SECOND), notAfter: new Date(NOON + day) }, 'is not valid'],
  ])('%s', async (_, wanted, expected) => {
    host.publish((await newSigner({ ...(!wanted.algorithm && { keys: signer.keys }), ...wanted })).pem);
    expect(await fresh().find()).toMatch(expected);
  });

  test('that is over while it is kept', async () => {
    host.publish((await newSigner({ notAfter: new Date(NOON + MINUTE), keys: signer.keys })).pem);
    const { find, pass } = fresh();
    expect(await find()).toBe('rsa');
    pass(MINUTE + SECOND);
    expect(await find()).toBe(`unavailable: ${CERTIFICATE_URL} is not valid at this time`);
  });
});

describe('the host is who it says:', () => {
  test('one that nobody trusts is not asked', async () => {
    const other = await newIssuer('CN=an authority of the public');
    expect(await fresh({ standIn: { ...host.standIn, ca: other.cert } }).find()).toMatch(/^unavailable: .*certificate/);
    expect(host.asked).toEqual([]);
  });

  test('one that is trusted for other names is not asked', async () => {
    expect(await fresh().find(CERTIFICATE_URL.replace('us-east-1', 'us-east-2'))).toMatch(/^unavailable: .*altnames/);
    expect(host.asked).toEqual([]);
  });
});

test.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1'])(
  'a name that leads to %s leads nowhere, unless the operator allows it',
  async (address) => {
    const resolve: typeof host.standIn.resolve = (_name, _options, found) => found(null, [{ address, family: 4 }]);
    const { find } = fresh({ hosts: new ReachableHosts([]), standIn: { ...host.standIn, resolve } });
    expect(await find()).toBe(unavailable(`its address ${address} is not a public one`));
    expect(host.connections).toBe(0);
  },
);

describe('strangers who make URLs up', () => {
  const madeUp = (n: number) => CERTIFICATE_URL.replace('.pem', `${n}.pem`);

  test('cause 20 fetches a minute for an account, and none for what is known', async () => {
    const { find, pass } = fresh();
    expect(await find()).toBe('rsa');
    host.publish('', 404);
    const tries = () => Promise.all(Array.from({ length: 50 }, (_, n) => find(madeUp(n))));
    await tries();
    expect(host.asked).toHaveLength(20);
    expect(await find(madeUp(30))).toBe('unavailable: it is not fetched now: too many were fetched in the last minute');
    expect(await find()).toBe('rsa');
    await find(madeUp(30), 'ac_2');
    expect(host.asked).toHaveLength(21);
    pass(MINUTE);
    await tries();
    expect(host.asked).toHaveLength(41);
  });

  test('push out no certificate that is known', async () => {
    const resolve: typeof host.standIn.resolve = (name, options, found) => {
      if (name === HOST) host.standIn.resolve(name, options, found);
      else found(Object.assign(new Error('there is none'), { code: 'ENOTFOUND' }), []);
    };
    const { find } = fresh({ standIn: { ...host.standIn, resolve } });
    expect(await find()).toBe('rsa');
    const elsewhere = (n: number) => madeUp(n).replace('us-east-1', 'us-east-2');
    await Promise.all(Array.from({ length: 600 }, (_, n) => find(elsewhere(n), `ac_${n % 40}`)));
    expect(await find()).toBe('rsa');
    expect(host.asked).toEqual([CERTIFICATE_URL]);
  });
});

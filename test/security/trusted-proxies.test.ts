// Who asks: only proxies that the operator names may say so in another's place.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedGateway, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { opened } from './http-reader.ts';

let gateway: TestGateway;
const ipFor = async (headers: Record<string, string>) => {
  const answer = await gateway.call('GET', '/credentials', undefined, { headers });
  const id = answer.headers['service-operation-id'];
  return (await gateway.logged((line) => line.operation_id === id)).ip;
};

describe('where no proxy is trusted', () => {
  beforeAll(async () => {
    gateway = await sharedGateway();
  });

  test.each<Record<string, string>>([
    { 'x-forwarded-for': '192.0.2.1' },
    { forwarded: 'for=192.0.2.1' },
    { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1', 'x-forwarded-proto': 'https' },
  ])('nobody is believed: %j', async (headers) => {
    expect(await ipFor(headers)).toBe('127.0.0.1');
  });
});

describe('behind trusted proxies', () => {
  beforeAll(async () => {
    gateway = await startTestGateway({
      TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:1::/48',
      MAX_API_CONNECTIONS: '32',
    });
  });
  afterAll(() => gateway.close());

  test.each([
    ['192.0.2.1', '192.0.2.1'],
    ['spoofed, 192.0.2.9, 192.0.2.1, 10.1.2.3', '192.0.2.1'],
    ['198.51.100.7, 2001:db8:1::5', '198.51.100.7'],
    ['2001:db8:2::7', '2001:db8:2::7'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:5678', '192.0.2.1'],
    ['[2001:db8:2::7]:443', '2001:db8:2::7'],
    ['10.9.9.9', '10.9.9.9'],
    ['192.0.2.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['nonsense', '127.0.0.1'],
    ['', '127.0.0.1'],
  ])('X-Forwarded-For: %s is %s', async (said, ip) => {
    expect(await ipFor({ 'x-forwarded-for': said })).toBe(ip);
  });

  test.each([
    ['for=192.0.2.1;proto=https', '192.0.2.1'],
    ['for=192.0.2.9, For="[2001:db8:2::7]:4711";by=10.0.0.1, for=10.0.0.2', '2001:db8:2::7'],
    ['for=_hidden', '127.0.0.1'],
    ['by=10.0.0.1', '127.0.0.1'],
  ])('Forwarded: %s is %s', async (said, ip) => {
    expect(await ipFor({ forwarded: said })).toBe(ip);
  });

  test('a header that the proxy did not write cannot change what it wrote in the other', async () => {
    expect(await ipFor({ 'x-forwarded-for': '192.0.2.1', forwarded: 'for=198.51.100.7' })).toBe('127.0.0.1');
    expect(await ipFor({ 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' })).toBe('192.0.2.1');
  });

  test.each([
    ['https', true],
    ['http', false],
    ['https, http', false],
    ['https, https', true],
    ['wss', false],
  ])('X-Forwarded-Proto: %s says whether the way was by TLS: %s', async (scheme, isSecure) => {
    const response = await fetch(`${gateway.api}/dashboard/`, { headers: { 'x-forwarded-proto': scheme } });
    const { uri } = (await (
      await fetch(`${gateway.api}/`, { headers: { 'x-forwarded-proto': scheme, accept: 'application/json' } })
    ).json()) as { uri: string };
    expect(uri).toMatch(isSecure ? /^https:/ : /^http:/);
    expect(response.headers.has('strict-transport-security')).toBe(false); // A loopback name.
  });

  test('one may have as many connections as all together', async () => {
    const idle = await Promise.all(Array.from({ length: 24 }, () => opened(gateway.api)));
    for (const socket of idle) socket.resume();
    expect((await gateway.call('GET', '/credentials')).status).toBe(200);
    expect(idle.filter((socket) => socket.closed)).toHaveLength(0);
    for (const socket of idle) socket.destroy();
  });

  test('is never this machine itself', async () => {
    const offer = { query: '{ signInOffer { isOffered } }' };
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(`${gateway.api}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(offer),
      });
      return ((await response.json()) as { data: { signInOffer: { isOffered: boolean } } }).data.signInOffer.isOffered;
    };
    expect(await ask({})).toBe(true);
    expect(await ask({ 'x-forwarded-for': '127.0.0.1' })).toBe(false);
    expect(await ask({ 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' })).toBe(true);
  });
});

// The guard in the connections to destinations: which addresses are connected to, whatever named them.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openOutbound } from '../../../src/events/sinks/http/outbound.ts';
import { post, RESPONSE_BYTES_MAX } from '../../../src/events/sinks/http/post.ts';
import { type Cidr, readCidr } from '../../../src/net/networks.ts';
import { isPublicAddress } from '../../../src/net/public-addresses.ts';
import { patience, settingsFor } from '../../support/events/aws-sinks.ts';
import { failureOf, openSinkLab, type SinkLab } from '../../support/events/http-sinks.ts';

let lab: SinkLab;
beforeAll(async () => {
  lab = await openSinkLab();
});
afterAll(() => lab.close());

const forbidden = { kind: 'config', code: 'FORBIDDEN_ADDRESS' };
const body = Buffer.from('[]');

describe('without an override', () => {
  const outbound = openOutbound(settingsFor());
  const { https, http } = outbound;
  afterAll(() => outbound.close());

  test.each([
    'localhost',
    '127.0.0.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.1',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '168.63.129.16',
    '10.0.0.1',
    '192.168.1.1',
    '[fd00::1]',
    '[fe80::1]',
  ])('%s is not connected to', async (host) => {
    const { connections } = lab.cloud;
    const posting = { headers: {}, body, agents: outbound };
    const urls = [new URL(`https://${host}:${lab.cloud.port}/`), new URL(`http://${host}:${lab.cloud.port}/`)];
    for (const url of urls) expect(await failureOf(post(url, posting, patience))).toMatchObject(forbidden);
    expect(lab.cloud.connections).toBe(connections);
  });

  // URLs turn these into dotted numbers before they are looked up. Not all that is connected to comes from a URL.
  test.each(['0x7f000001', '2130706433', '127.1', '::ffff:127.0.0.1', '[::1]', 'localhost'])(
    '%s is not, given to an agent as it is',
    async (host) => {
      for (const [send, agent] of [[overHttps, https] as const, [overHttp, http] as const]) {
        const [error] = await once(send({ host, port: lab.cloud.port, agent }).end(), 'error').catch((e) => [e]);
        expect(error).toMatchObject(forbidden);
      }
    },
  );

  test('the error does not name the refused address', async () => {
    const url = new URL(`https://localhost:${lab.cloud.port}/`);
    const { message } = await failureOf(post(url, { headers: {}, body, agents: outbound }, patience));
    expect(message).not.toMatch(/127|::1/);
  });
});

test('an override is for one host and port', async () => {
  const { outbound } = lab.parts();
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const posting = { headers: {}, body, agents: outbound };
  expect(await post(new URL(lab.cloud.url), posting, patience)).toMatchObject({ status: 204 });
  for (const url of [`https://localhost:${port}`, `https://127.0.0.1:${lab.cloud.port}`])
    expect(await failureOf(post(new URL(url), posting, patience))).toMatchObject(forbidden);
  other.close();
});

test('an untrusted certificate is refused, and the request is retried', async () => {
  const outbound = openOutbound(settingsFor({ eventEndpoints: lab.cloud.endpoints }));
  const failure = await failureOf(post(new URL(lab.cloud.url), { headers: {}, body, agents: outbound }, patience));
  expect(failure).toMatchObject({ kind: 'retry', code: expect.stringMatching(/CERT|SIGNATURE|ISSUER/) });
  outbound.close();
});

test('a file without authorities stops the start', async () => {
  const eventCaFile = join(lab.directory, 'nothing.pem');
  expect(() => openOutbound(settingsFor({ eventCaFile }))).toThrow('ENOENT');
  await writeFile(eventCaFile, 'not a certificate');
  expect(() => openOutbound(settingsFor({ eventCaFile }))).toThrow('EVENT_CA_FILE');
});

test('redirections are not followed', async () => {
  const asked = lab.cloud.requests.length;
  const inner = { location: 'http://169.254.169.254/latest/meta-data/' };
  for (const [status, headers] of [[302, inner] as const, [307, { location: lab.cloud.url }] as const]) {
    lab.cloud.script('webhook', [{ status, headers }]);
    const failure = failureOf(
      post(new URL(lab.cloud.url), { headers: {}, body, agents: lab.parts().outbound }, patience),
    );
    expect(await failure).toMatchObject({ kind: 'config', code: `HTTP ${status}` });
  }
  expect(lab.cloud.requests.length).toBe(asked + 2);
});

test('at most 64 KiB of a response are read', async () => {
  const posting = { headers: {}, body, agents: lab.parts().outbound };
  lab.cloud.script('webhook', [{ status: 400, body: 'x'.repeat(8 * 1024 * 1024) }]);
  const answer = await post(new URL(lab.cloud.url), posting, patience);
  expect([answer.status, answer.text.length]).toEqual([400, RESPONSE_BYTES_MAX]);
});

test('public addresses are those that the registries have allocated', () => {
  for (const ip of ['1.1.1.1', '8.8.8.8', '52.94.1.1', '2606:4700::1111', '2a00:1450::1', '::ffff:8.8.8.8'])
    expect([ip, isPublicAddress(ip)]).toEqual([ip, true]);
  for (const text of ['', 'localhost', '256.1.1.1', 'fe80::1%eth0'])
    expect([text, isPublicAddress(text)]).toEqual([text, false]);
});

/** IANA's registries of special-purpose addresses of IPv4 and IPv6, multicast, and what RFC 4291 and 2765 set apart. */
const special = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.0.0/29', '192.0.0.8/32', '192.0.0.9/32', '192.0.0.10/32', '192.0.0.170/31', '192.0.2.0/24'],
  ...['192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4', '255.255.255.255/32'],
  ...['::/128', '::1/128', '::/96', '::ffff:10.0.0.0/104', '::ffff:127.0.0.1/128', '::ffff:0:0:0/96', '64:ff9b::/96'],
  ...['64:ff9b:1::/48', '100::/64', '100:0:0:1::/64', '2001::/23', '2001::/32', '2001:1::1/128', '2001:1::2/128'],
  ...['2001:1::3/128', '2001:2::/48', '2001:3::/32', '2001:4:112::/48', '2001:10::/28', '2001:20::/28', '2001:30::/28'],
  ...[
    '2001:db8::/32',
    '2002::/16',
    '2620:4f:8000::/48',
    '3fff::/20',
    '5f00::/16',
    'fc00::/7',
    'fe80::/10',
    'fec0::/10',
  ],
  ...['ff00::/8'],
];

test.each(special)('no address of %s is public, from the first to the last', (network) => {
  const { base, prefix, family } = readCidr(network) as Cidr;
  const bits = family === 4 ? 32 : 128;
  const first = numberOf(base, family);
  const last = first + (1n << BigInt(bits - prefix)) - 1n;
  for (const value of [first, last, first + (last - first) / 2n]) {
    const address = addressOf(value, family);
    expect([address, isPublicAddress(address)]).toEqual([address, false]);
  }
});

test.each(['::ffff:0:127.0.0.1', '::ffff:0:a9fe:a9fe', '3fff:fff::1', '5f00::1', '2002:7f00:1::', '64:ff9b::10.0.0.1'])(
  '%s is not public: it leads elsewhere, or nowhere',
  (address) => expect(isPublicAddress(address)).toBe(false),
);

test.each(['2001:200::1', '2001:db7::1', '2001:db9::1', '2003::1', '2620:4f:7fff::1', '3ffe:ffff::1', '192.0.1.1'])(
  '%s is public, beside what is not',
  (address) => expect(isPublicAddress(address)).toBe(true),
);

function numberOf(address: string, family: 4 | 6): bigint {
  if (family === 4) return address.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return groups.reduce((value, group) => value * 65536n + BigInt(`0x${group}`), 0n);
}

function addressOf(value: bigint, family: 4 | 6): string {
  const [size, count] = family === 4 ? [8n, 4] : [16n, 8];
  const parts = Array.from(
    { length: count },
    (_, i) => (value >> (size * BigInt(count - 1 - i))) & ((1n << size) - 1n),
  );
  return parts.map((part) => part.toString(family === 4 ? 10 : 16)).join(family === 4 ? '.' : ':');
}

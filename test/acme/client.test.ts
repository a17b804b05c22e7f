// The ACME client against the server of the tests and, where it is installed, against Pebble, which others have written.

import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newAccountKey } from '../../src/acme/client/account-key.ts';
import { AcmeClient } from '../../src/acme/client/client.ts';
import { AcmeProblem } from '../../src/acme/client/problem.ts';
import { pebbleIsMissing, startPebble } from '../support/acme/pebble.ts';
import { startAcmeServer } from '../support/acme/server.ts';
import { type ChallengeType, obtain, type Responders, startResponders } from './responders.ts';

interface Server {
  directoryUrl: string;
  caPem: string;
  /** The roots of the first and of the alternate chain. */
  roots: [string, string];
  stop(): Promise<void>;
}

type Start = (responders: Responders, eab?: Record<string, string>) => Promise<Server>;

/** Every third good nonce is refused. */
const startOwn: Start = async ({ httpPort, tlsPort, dns }, eab) => {
  const targets = { httpPorts: [httpPort], tlsPorts: [tlsPort], dnsServer: dns.address };
  const server = await startAcmeServer({ targets, eab });
  server.faults.nonceRejection = 0.3;
  return { ...server, roots: [server.rootPem, server.alternateRootPem] };
};

const startReal: Start = async ({ httpPort, tlsPort, dns }, eab) => {
  const env = { PEBBLE_WFE_NONCEREJECT: '30', PEBBLE_ALTERNATE_ROOTS: '1' };
  const pebble = await startPebble({ httpPort, tlsPort, dnsServer: dns.address, env, eab });
  return { ...pebble, roots: [await pebble.root(0), await pebble.root(1)] };
};

if (pebbleIsMissing) process.stderr.write(`${pebbleIsMissing} The client of ACME is tested without it.\n`);

const hmacKey = randomBytes(32).toString('base64url');
const agreed = { termsOfServiceAgreed: true } as const;

describe.each([
  { name: 'the server of the tests', start: startOwn, isMissing: false },
  { name: 'Pebble', start: startReal, isMissing: pebbleIsMissing !== undefined },
])('with $name', ({ start, isMissing }) => {
  describe.skipIf(isMissing)('while it refuses 30 % of good nonces,', () => {
    let responders: Responders;
    let server: Server;
    const clients: AcmeClient[] = [];

    beforeAll(async () => {
      responders = await startResponders();
      server = await start(responders);
    });
    afterAll(async () => {
      for (const client of clients) client.close();
      await server?.stop();
      await responders?.stop();
    });

    function clientOf(key: string, accountUrl?: string, at = server): AcmeClient {
      const client = new AcmeClient(
        { directoryUrl: at.directoryUrl, ca: at.caPem, userAgent: 'tunnel-gateway-tests' },
        key,
        accountUrl,
      );
      clients.push(client);
      return client;
    }

    async function clientWithAccount(): Promise<AcmeClient> {
      const client = clientOf(await newAccountKey());
      await client.openAccount(agreed);
      return client;
    }

    async function certificateOf(client: AcmeClient, name: string) {
      const { order, privateKeyPem } = await obtain(
        client,
        await client.newOrder({ names: [name] }),
        'http-01',
        responders,
      );
      return { url: order.certificate ?? '', chain: await client.certificate(order.certificate ?? ''), privateKeyPem };
    }

    test('the directory names the terms, which an account must agree to', async () => {
      const client = clientOf(await newAccountKey());
      expect((await client.directory()).meta).toMatchObject({
        termsOfService: expect.any(String),
        externalAccountRequired: false,
      });
      await expect(client.openAccount({ termsOfServiceAgreed: false as unknown as true })).rejects.toBeInstanceOf(
        AcmeProblem,
      );
    });

    test('a key has one account, however often it is opened', async () => {
      const key = await newAccountKey();
      await expect(clientOf(key).findAccount()).rejects.toMatchObject({ type: 'accountDoesNotExist', status: 400 });
      const url = await clientOf(key).openAccount({ ...agreed, contact: ['mailto:admin@example.com'] });
      expect(await clientOf(key).openAccount(agreed)).toBe(url);
      expect(await clientOf(key).findAccount()).toBe(url);
    });

    test('an account that the server does not know is said to be unknown', async () => {
      const client = clientOf(await newAccountKey(), new URL('/my-account/gone', server.directoryUrl).href);
      await expect(client.newOrder({ names: ['a.example.com'] })).rejects.toMatchObject({
        name: 'AcmeProblem',
        type: 'accountDoesNotExist',
      });
    });

    test.each<{ type: ChallengeType; names: string[]; keyType: 'ecdsa' | 'rsa' }>([
      { type: 'http-01', names: ['web.example.com', 'www.example.com'], keyType: 'ecdsa' },
      { type: 'tls-alpn-01', names: ['tls.example.com'], keyType: 'rsa' },
      { type: 'dns-01', names: ['*.wild.example.com', 'wild.example.com'], keyType: 'ecdsa' },
    ])('$type gets a certificate for $names', async ({ type, names, keyType }) => {
      const client = await clientWithAccount();
      const { order, privateKeyPem } = await obtain(
        client,
        await client.newOrder({ names }),
        type,
        responders,
        keyType,
      );
      expect(order).toMatchObject({ status: 'valid', error: undefined });
      const certificates = split(await client.certificate(order.certificate ?? ''));
      const [leaf] = certificates as [X509Certificate];
      expect(leaf.subjectAltName?.split(', ').sort()).toEqual(names.map((name) => `DNS:${name}`).sort());
      expect(leaf.checkPrivateKey(createPrivateKey(privateKeyPem))).toBe(true);
      expect(leaf.publicKey.asymmetricKeyType).toBe(keyType === 'rsa' ? 'rsa' : 'ec');
      expectChain(certificates, server.roots[0]);
    });

    test('a challenge that is not answered makes the order invalid, and the challenge says why', async () => {
      const client = await clientWithAccount();
      const order = await client.newOrder({ names: ['unanswered.example.com'] });
      const silent: Responders = { ...responders, answer: async () => {} };
      expect((await obtain(client, order, 'http-01', silent)).order.status).toBe('invalid');
      const authorization = await client.authorization(order.authorizations[0] ?? '');
      expect(authorization.status).toBe('invalid');
      const failed = authorization.challenges.find(({ type }) => type === 'http-01');
      expect(failed).toMatchObject({ status: 'invalid', error: { type: 'unauthorized' } });
      expect(failed?.error?.detail).toContain('404');
    });

    test('the chain with the preferred issuer is fetched, and the first one where there is none', async () => {
      const client = await clientWithAccount();
      const { url, chain } = await certificateOf(client, 'chain.example.com');
      const issuer = new X509Certificate(server.roots[1]).subject.replace(/^.*CN=/s, '');
      const other = await client.certificate(url, { preferredIssuer: issuer });
      expect(other).not.toBe(chain);
      expectChain(split(other), server.roots[1]);
      expect(await client.certificate(url, { preferredIssuer: 'No Such Root' })).toBe(chain);
    });

    test('a certificate is revoked once, and only by its account', async () => {
      const client = await clientWithAccount();
      const { chain } = await certificateOf(client, 'revoked.example.com');
      await expect((await clientWithAccount()).revoke(chain)).rejects.toMatchObject({
        type: 'unauthorized',
        status: 403,
      });
      await client.revoke(chain, 1);
      await expect(client.revoke(chain, 1)).rejects.toMatchObject({ type: 'alreadyRevoked' });
    });

    test('an account goes on with a new key, and no longer with the old one', async () => {
      const [oldKey, newKey] = [await newAccountKey(), await newAccountKey()];
      const client = clientOf(oldKey);
      const url = await client.openAccount(agreed);
      await client.changeKey(newKey);
      await client.newOrder({ names: ['key.example.com'] });
      expect(await clientOf(newKey).findAccount()).toBe(url);
      await expect(clientOf(oldKey, url).newOrder({ names: ['key.example.com'] })).rejects.toBeInstanceOf(AcmeProblem);
    });

    test('a new key that another account has is refused, and the old one stays', async () => {
      const taken = await newAccountKey();
      await clientOf(taken).openAccount(agreed);
      const client = await clientWithAccount();
      await expect(client.changeKey(taken)).rejects.toMatchObject({
        name: 'AcmeProblem',
        detail: expect.stringContaining('already in use'),
      });
      await client.newOrder({ names: ['key.example.com'] });
    });

    test('an account is bound to an external one, where the server requires that', async () => {
      const bound = await start(responders, { 'kid-1': hmacKey });
      try {
        const client = clientOf(await newAccountKey(), undefined, bound);
        expect((await client.directory()).meta.externalAccountRequired).toBe(true);
        await expect(client.openAccount(agreed)).rejects.toMatchObject({ type: 'externalAccountRequired' });
        const wrong = { kid: 'kid-1', hmacKeyBase64Url: randomBytes(32).toString('base64url') };
        await expect(client.openAccount({ ...agreed, eab: wrong })).rejects.toBeInstanceOf(AcmeProblem);
        const eab = { kid: 'kid-1', hmacKeyBase64Url: hmacKey };
        expect(await client.openAccount({ ...agreed, eab })).toMatch(/^https:/);
        await client.newOrder({ names: ['bound.example.com'] });
      } finally {
        await bound.stop();
      }
    });
  });
});

const split = (chain: string) =>
  (chain.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map((pem) => new X509Certificate(pem));

/** Each is issued by the next one, and the last one by the root. */
function expectChain(certificates: X509Certificate[], root: string): void {
  const chain = [...certificates, new X509Certificate(root)];
  expect(certificates.length).toBeGreaterThan(1);
  for (const [index, certificate] of certificates.entries())
    expect(certificate.verify((chain[index + 1] as X509Certificate).publicKey)).toBe(true);
}

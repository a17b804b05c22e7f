// What the ACME client says when a server refuses, is busy, or does what the RFC allows and most servers do not.

import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newAccountKey } from '../../src/acme/client/account-key.ts';
import { newCertificateRequest } from '../../src/acme/client/certificate-request.ts';
import type { AcmeOrder } from '../../src/acme/client/resources.ts';
import { clientLab } from './client-lab.ts';
import { leaving } from './responders.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const names = ['a.example.com'];
const lab = clientLab();

describe('a refused order', () => {
  test('says for how long to wait, in seconds', async () => {
    const detail = 'too many certificates (5) already issued for this exact set of identifiers in the last 168h0m0s';
    lab.server.faults.refuse.newOrder = { status: 429, type: 'rateLimited', detail, retryAfter: '122400' };
    await expect(lab.client.newOrder({ names })).rejects.toMatchObject({
      name: 'AcmeProblem',
      message: `${detail} (rateLimited)`,
      type: 'rateLimited',
      detail,
      status: 429,
      retryAfterMs: 122_400_000,
    });
    expect(lab.server.requests.filter((request) => request === 'newOrder')).toHaveLength(1);
  });

  test('says it also when the server names a date', async () => {
    const retryAfter = new Date(lab.now + 2 * HOUR_MS).toUTCString();
    lab.server.faults.refuse.newOrder = { status: 429, type: 'rateLimited', detail: 'later', retryAfter };
    const error = await lab.client.newOrder({ names }).catch((error) => error);
    // The server's own clock, which it sends along, has seconds.
    expect(error.retryAfterMs).toBeGreaterThan(2 * HOUR_MS - 10_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(2 * HOUR_MS);
  });

  test('names each name that the server does not want', async () => {
    lab.server.faults.rejectedNames = ['b.example.com'];
    await expect(lab.client.newOrder({ names: ['a.example.com', 'b.example.com'] })).rejects.toMatchObject({
      type: 'rejectedIdentifier',
      subproblems: [
        {
          type: 'rejectedIdentifier',
          detail: 'The ACME server refuses to issue a certificate for "b.example.com"',
          identifier: 'b.example.com',
        },
      ],
    });
  });

  test('names a page for a person, where the server has one', async () => {
    const instance = 'https://ca.example/unpause?jwt=x';
    lab.server.faults.refuse.newOrder = { status: 403, type: 'userActionRequired', detail: 'Paused', instance };
    await expect(lab.client.newOrder({ names })).rejects.toMatchObject({ type: 'userActionRequired', instance });
  });

  test('is for an account that the server has forgotten: the same key opens another', async () => {
    lab.server.forgetAccounts();
    await expect(lab.client.newOrder({ names })).rejects.toMatchObject({ type: 'accountDoesNotExist' });
    await lab.client.openAccount({ termsOfServiceAgreed: true });
    expect(await lab.client.newOrder({ names })).toMatchObject({ status: 'pending' });
  });
});

describe('a server that is busy', () => {
  test('is unreachable with the time to wait, when a proxy answers in its place', async () => {
    lab.server.faults.refuse.newOrder = { status: 503, retryAfter: '30' };
    await expect(lab.client.newOrder({ names })).rejects.toMatchObject({
      name: 'AcmeUnreachable',
      message: expect.stringMatching(
        /^The ACME server at 127\.0\.0\.1:\d+ answered with the status 503 and no reason\.$/,
      ),
      retryAfterMs: 30_000,
    });
  });

  test('has its own words for it, when it answers itself', async () => {
    const detail = 'Service busy; retry later.';
    lab.server.faults.refuse.newOrder = { status: 503, type: 'rateLimited', detail, retryAfter: '5' };
    await expect(lab.client.newOrder({ names })).rejects.toMatchObject({
      name: 'AcmeProblem',
      detail,
      retryAfterMs: 5000,
    });
  });

  test('is asked for its directory again after it failed', async () => {
    const other = lab.clientOf(await newAccountKey());
    lab.server.faults.refuse.directory = { status: 502, times: 1 };
    await expect(other.directory()).rejects.toMatchObject({ name: 'AcmeUnreachable' });
    expect(await other.directory()).toMatchObject({ newOrder: expect.any(String) });
    other.close();
  });

  test('says when to ask again for an order that takes long', async () => {
    lab.server.faults.stuckOrders = true;
    lab.server.faults.retryAfter = '3';
    const order = await lab.client.newOrder({ names });
    await answerAll(order);
    const ready = await leaving(lab.client, order.url, 'pending');
    const { csr } = await newCertificateRequest(names, 'ecdsa');
    expect(await lab.client.finalize(ready, csr)).toMatchObject({ status: 'processing', retryAfterMs: 3000 });
    expect(await lab.client.order(order.url)).toMatchObject({ status: 'processing', retryAfterMs: 3000 });
    lab.server.faults.stuckOrders = false;
    expect(await leaving(lab.client, order.url, 'processing')).toMatchObject({
      status: 'valid',
      retryAfterMs: undefined,
    });
  });

  test('that refuses every nonce is given up, with its own words', async () => {
    lab.server.faults.nonceRejection = 1;
    await expect(lab.client.newOrder({ names })).rejects.toMatchObject({ type: 'badNonce' });
    expect(lab.server.requests.filter((request) => request === 'newOrder')).toHaveLength(15);
  });
});

async function answerAll(order: AcmeOrder): Promise<void> {
  for (const url of order.authorizations) {
    const { name, challenges } = await lab.client.authorization(url);
    const challenge = challenges.find(({ type }) => type === 'http-01');
    await lab.responders.answer(lab.client, 'http-01', name, challenge?.token ?? '');
    await lab.client.ready(challenge?.url ?? '');
  }
}

describe('an order', () => {
  test('that fails at its end says why', async () => {
    lab.server.faults.invalidOrders = 'CAA record for a.example.com prevents issuance';
    expect(await lab.finish(await lab.client.newOrder({ names }))).toMatchObject({
      status: 'invalid',
      error: { type: 'caa', detail: 'CAA record for a.example.com prevents issuance', status: 403 },
    });
  });

  test('whose authorization fails says why in the challenge', async () => {
    const detail = '2001:db8::1: Invalid response from http://a.example.com/.well-known/acme-challenge/x: 404';
    lab.server.faults.invalidAuthorizations = detail;
    const order = await lab.finish(await lab.client.newOrder({ names }));
    expect(order.status).toBe('invalid');
    const { status, challenges } = await lab.client.authorization(order.authorizations[0] ?? '');
    expect(status).toBe('invalid');
    expect(challenges.find(({ type }) => type === 'http-01')).toMatchObject({
      status: 'invalid',
      error: { type: 'unauthorized', detail },
    });
  });

  test('whose failed challenge stays pending can be tried again', async () => {
    lab.server.faults.keepsFailedChallenges = true;
    const order = await lab.client.newOrder({ names });
    const url = order.authorizations[0] ?? '';
    const challengeOf = async () =>
      (await lab.client.authorization(url)).challenges.find(({ type }) => type === 'http-01');
    await lab.client.ready((await challengeOf())?.url ?? '');
    await expect.poll(challengeOf).toMatchObject({ status: 'pending', error: { type: 'unauthorized' } });
    expect(await lab.finish(await lab.client.order(order.url))).toMatchObject({ status: 'valid' });
  });

  test('is ready at once where authorizations are used again', async () => {
    lab.server.faults.reusesAuthorizations = true;
    await lab.finish(await lab.client.newOrder({ names }));
    const second = await lab.client.newOrder({ names });
    expect(second).toMatchObject({ status: 'ready' });
    expect(await lab.client.authorization(second.authorizations[0] ?? '')).toMatchObject({ status: 'valid' });
    expect(await lab.finish(second)).toMatchObject({ status: 'valid' });
    expect(lab.server.countOrders(...names)).toBe(2);
  });

  test('is the earlier one where orders are used again', async () => {
    lab.server.faults.reusesOrders = true;
    const first = await lab.client.newOrder({ names });
    expect((await lab.client.newOrder({ names })).url).toBe(first.url);
    expect(lab.server.countOrders(...names)).toBe(1);
  });

  test('may offer challenges that the client does not know', async () => {
    lab.server.faults.offersUnknownChallenges = true;
    const order = await lab.client.newOrder({ names });
    const { challenges } = await lab.client.authorization(order.authorizations[0] ?? '');
    expect(challenges.map(({ type }) => type)).toEqual(['dns-persist-01', 'http-01', 'dns-01', 'tls-alpn-01']);
    expect(await lab.finish(order)).toMatchObject({ status: 'valid' });
  });

  test('is invalid when its time is over', async () => {
    await lab.restart({ orderDays: 1 });
    const order = await lab.client.newOrder({ names });
    expect(order.expires).toBe(lab.now + DAY_MS);
    lab.now += DAY_MS;
    expect(await lab.client.order(order.url)).toMatchObject({ status: 'invalid' });
  });

  test('is for a profile that the server has, and no other', async () => {
    await lab.restart({ profiles: { shortlived: { description: 'six days', days: 6 } } });
    expect((await lab.client.directory()).meta.profiles).toEqual({ shortlived: 'six days' });
    const order = await lab.client.newOrder({ names, profile: 'shortlived' });
    expect(order.profile).toBe('shortlived');
    const { validFrom, validTo } = new X509Certificate(await lab.certificateFor(order));
    expect(Date.parse(validTo) - Date.parse(validFrom)).toBe(6 * DAY_MS - 1000);
    await expect(lab.client.newOrder({ names, profile: 'classic' })).rejects.toMatchObject({ type: 'invalidProfile' });
  });
});

// Webhooks as a policy asks for them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies are full of them

import { expect, test } from 'vitest';
import type { Verdict } from '../../../src/http/module.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import { ENDPOINT, environmentOf, exchangeOf, NOON } from '../exchange-support.ts';
import { senders } from './senders.ts';

const environment = environmentOf();
const BODY = '{"action":"opened"}';
const outgoing = { secret: 'the secret', body: BODY, at: NOON / 1000, url: 'https://app.example.com/' };

function policy(config: object, type = 'verify-webhook') {
  const body = '${actions.verify_webhook}';
  const actions = [
    { type, config },
    { type: 'custom-response', config: { body } },
  ];
  const { http } = compilePolicyDocument({ on_http_request: [{ actions }] }, ENDPOINT, environment);
  return async (fields: Record<string, string> = {}, body = BODY) =>
    (await http?.onRequest?.(exchangeOf({ method: 'POST', body, fields }))) as Verdict & { body?: Buffer };
}

const said = ({ body }: { body?: Buffer }) => JSON.parse(body?.toString() ?? 'null');
const github = { provider: 'github', secret: 'the secret' };

test.each(['verify-webhook', 'webhook-validation'])('%s lets in what is signed, and nothing else', async (type) => {
  const visit = policy(github, type);
  expect(said(await visit(senders.github?.send(outgoing)))).toEqual({ verified: true });
  expect(await visit()).toEqual({
    kind: 'refuse',
    error: 'webhookRefused',
    reason: `rule on_http_request[0], action ${type}: github: the request has no signature of this sender`,
  });
});

test('a secret may be computed, and one that comes out empty lets nobody in', async () => {
  const visit = policy({ ...github, secret: '${"the " + "secret"}' });
  expect(said(await visit(senders.github?.send(outgoing)))).toEqual({ verified: true });
  const nobody = policy({ ...github, secret: '${""}' });
  expect(await nobody(senders.github?.send({ ...outgoing, secret: '' }))).toMatchObject({ error: 'webhookRefused' });
});

test('without enforcement all come in, and the policy knows who was not verified and why', async () => {
  const visit = policy({ ...github, enforce: false });
  expect(said(await visit())).toEqual({
    verified: false,
    error: { code: 'ERR_GATEWAY_3204', message: 'the request has no signature of this sender' },
  });
  expect(said(await visit({}, 'x'.repeat(1024 * 1024 + 1)))).toMatchObject({ error: { code: 'ERR_GATEWAY_90127' } });
});

test('what a sender asks to test the endpoint is answered in place of the upstream', async () => {
  const body = '{"events":[]}';
  const visit = policy({ provider: 'xero', secret: 'the secret' });
  expect(await visit(senders.xero?.send({ ...outgoing, body }), body)).toMatchObject({ kind: 'answer', status: 200 });
  expect(await visit({}, body)).toMatchObject({ kind: 'answer', status: 401 });
  expect(await visit()).toMatchObject({ kind: 'refuse' });
});

test('a sender that is not known, and a secret that cannot be one, are refused when they are uploaded', () => {
  expect(() => policy({ ...github, provider: 'gitbub' })).toThrow(
    /config\.provider must be one of aftership, .*, zoom$/,
  );
  expect(() => policy({ provider: 'github' })).toThrow(/config\.secret is missing/);
  expect(() => policy({ ...github, secret: '' })).toThrow(/config\.secret must not be empty/);
  expect(() => policy({ provider: 'svix', secret: 'not a key' })).toThrow(
    /config\.secret must be the secret as the sender/,
  );
});

/** Microseconds of CPU, which other processes do not add to. */
function userTimeOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  return process.cpuUsage(began).user;
}

test('strangers cannot make the check expensive', async () => {
  const many = (text: string) => text.repeat(Math.floor(30_000 / text.length));
  const form = Array.from({ length: 100_000 }, (_, i) => `k${i}=v`).join('&');
  const urlencoded = { 'Content-Type': 'application/x-www-form-urlencoded' };
  // What reading the largest of these bodies takes: the machine may be as slow as it likes.
  const reading = userTimeOf(() => {
    for (let times = 0; times < 3; times++) new URLSearchParams([...new URLSearchParams(form)].toSorted()).toString();
  });
  const began = process.cpuUsage();
  for (const [provider, fields, body] of [
    ['pagerduty', { 'X-PagerDuty-Signature': many('v1=x,') }, 'x'.repeat(1024 * 1024)],
    ['contentful', { 'x-contentful-signature': 'x', 'x-contentful-signed-headers': many('x,') }, '{}'],
    ['twilio', { ...urlencoded, 'X-Twilio-Signature': 'x' }, form],
    ['xero', { 'x-xero-signature': 'x' }, `${'['.repeat(500_000)}`],
  ] as const)
    expect(await policy({ provider, secret: 'the secret' })(fields, body)).toMatchObject({ kind: 'refuse' });
  expect(process.cpuUsage(began).user).toBeLessThan(3 * reading);
});

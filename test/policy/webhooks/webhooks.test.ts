// Webhooks of every sender that is known: signed well, badly, not at all, and too long ago.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { webhookVerification } from '../../../src/edge/modules/webhook-verification.ts';
import {
  webhookProviders as all,
  needsSecret,
  providerProblem,
  secretProblem,
} from '../../../src/policy/webhooks/providers.ts';
import { verifyWebhook } from '../../../src/policy/webhooks/verify.ts';
import { root } from '../../support/root.ts';
import { environmentOf, exchangeOf, NOON } from '../exchange-support.ts';
import { senders } from './senders.ts';

/** Those with a secret. */
const webhookProviders = all.filter(needsSecret);
const NOW = NOON / 1000;
const TARGET = '/hooks/in?from=there';
const URL = `https://app.example.com${TARGET}`;
/** A form as well as a text. */
const BODY = 'event=paid&amount=%C3%BC1';

/** These sign a part of the body, or only bring a token. */
const bodyIsNotSigned = ['gitlab', 'mailgun'];
/** Fields that go along without being needed. */
const isExtra = (name: string) => name === 'X-GCS-KeyId';

interface Change {
  secret?: string;
  at?: number;
  body?: (body: string) => string;
  fields?: (fields: Record<string, string>) => Record<string, string>;
}

/** What becomes of a webhook that was signed well, and changed on its way. */
async function visit(provider: string, { secret, at = NOW, body = (same) => same, fields = (same) => same }: Change) {
  const sender = senders[provider];
  if (!sender) throw new Error(`nobody signs for ${provider}`);
  const outgoing = { secret: sender.secret, body: BODY, at, url: URL };
  const sent = sender.body?.(outgoing) ?? BODY;
  const signed = fields(sender.send(outgoing));
  const exchange = exchangeOf({ method: 'POST', target: TARGET, fields: signed, body: body(sent) });
  return verifyWebhook(provider, secret ?? sender.secret, exchange, environmentOf());
}

const otherSecrets: Record<string, string> = {
  discord: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  sendgrid:
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
};

test('every sender with a secret is tried here, and there are many', () => {
  expect(Object.keys(senders).sort()).toEqual(webhookProviders);
  expect(webhookProviders.length).toBeGreaterThan(60);
});

test.each(webhookProviders)('what %s signed comes in', async (provider) => {
  expect(await visit(provider, {})).toEqual({ verified: true });
});

test.each(webhookProviders)('what somebody else signed for %s stays out', async (provider) => {
  const secret = otherSecrets[provider] ?? Buffer.from('the key of somebody else').toString('base64');
  expect(await visit(provider, { secret })).toMatchObject({ verified: false, error: 'webhookRefused' });
});

test.each(webhookProviders)('what is changed behind the back of %s stays out', async (provider) => {
  const isSigned = !bodyIsNotSigned.includes(provider);
  expect(await visit(provider, { body: (body) => body.replace('paid', 'void') })).toMatchObject({
    verified: !isSigned,
  });
  if (provider === 'mailgun')
    expect(await visit(provider, { body: (body) => body.replace('a token', 'b token') })).toMatchObject({
      verified: false,
    });
});

test.each(webhookProviders)('each field that %s sends is needed', async (provider) => {
  const names = Object.keys(senders[provider]?.send({ secret: '', body: '', at: NOW, url: URL }) ?? {});
  for (const missing of names.filter((name) => !isExtra(name))) {
    const fields = (all: Record<string, string>) =>
      Object.fromEntries(Object.entries(all).filter(([name]) => name !== missing));
    expect([missing, await visit(provider, { fields })]).toMatchObject([missing, { verified: false }]);
  }
});

test.each(webhookProviders)('a signature of %s does not fit another one', async (provider) => {
  const fields = (all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value.slice(0, -3)]));
  const body = (text: string) => text.replace(/"signature":"./, '"signature":"z');
  expect(await visit(provider, { fields, body })).toMatchObject({ verified: false });
});

/** Those that sign when they send. */
const timed = webhookProviders.filter((name) => {
  const [one, other] = [0, 60].map((later) => {
    const outgoing = { secret: '', body: BODY, at: NOW + later, url: URL };
    return JSON.stringify([senders[name]?.send(outgoing), senders[name]?.body?.(outgoing)]);
  });
  return one !== other;
});

test('many senders sign when they send', () => {
  expect(timed.length).toBeGreaterThan(25);
});

test.each(timed)('what %s signed more than three minutes ago, or will sign, stays out', async (provider) => {
  expect(await visit(provider, { at: NOW - 180 })).toEqual({ verified: true });
  expect(await visit(provider, { at: NOW + 180 })).toEqual({ verified: true });
  expect(await visit(provider, { at: NOW - 181 })).toMatchObject({
    verified: false,
    reason: expect.stringMatching(/181 s ago/),
  });
  expect(await visit(provider, { at: NOW + 181 })).toMatchObject({
    verified: false,
    reason: expect.stringMatching(/from now/),
  });
});

test.each(timed)('nobody can send what %s signed again with a newer time', async (provider) => {
  const times = (at: number) => [String(at), new Date(at * 1000).toISOString().slice(0, -1)] as const;
  const [[seconds, date], [newSeconds, newDate]] = [times(NOW - 400), times(NOW)];
  const newer = (text: string) => text.replaceAll(seconds, newSeconds).replaceAll(date, newDate);
  const fields = (all: Record<string, string>) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, newer(value)]));
  expect(await visit(provider, { at: NOW - 400, fields, body: newer })).toMatchObject({
    verified: false,
    reason: expect.stringMatching(/signature/),
  });
});

test('a body of more than 1 MiB cannot be checked, and is refused as too large', async () => {
  const exchange = exchangeOf({ method: 'POST', body: Buffer.alloc(1024 * 1024 + 1) });
  expect(await verifyWebhook('github', 'secret', exchange, environmentOf())).toMatchObject({ error: 'bodyTooLarge' });
});

test('nothing is let in with an empty secret, or one that is no key', async () => {
  for (const [provider, secret] of [
    ['github', ''],
    ['svix', ''],
    ['svix', 'whsec_'],
    ['svix', '!!!!'],
  ] as const)
    expect(await visit(provider, { secret })).toMatchObject({ verified: false });
  // Nobody's token, and a secret that is not set, are the same text.
  const fields = () => ({ 'X-Gitlab-Token': '' });
  expect(await visit('gitlab', { secret: '', fields })).toMatchObject({ verified: false });
});

test('the module lets in what is signed, and turns the rest away with 403 and a reason', async () => {
  const module = webhookVerification({ provider: 'github', secret: 'secret' }, environmentOf());
  const fields = senders.github?.send({ secret: 'secret', body: BODY, at: NOW, url: URL });
  expect(await module.onRequest?.(exchangeOf({ method: 'POST', body: BODY, fields }))).toBeUndefined();
  expect(await module.onRequest?.(exchangeOf({ method: 'POST', body: BODY }))).toEqual({
    kind: 'refuse',
    error: 'webhookRefused',
    reason: 'github: the request has no signature of this sender',
  });
});

test('a sender that is not known, or a secret that cannot be one, is told when it is set up', () => {
  expect(providerProblem('github')).toBeUndefined();
  expect(providerProblem('gitbub')).toMatch(/must be one of aftership, .*github.*zoom$/);
  expect(secretProblem('github', '')).toBe('must not be empty');
  for (const provider of webhookProviders)
    expect(secretProblem(provider, senders[provider]?.secret ?? '')).toBeUndefined();
  for (const provider of ['svix', 'microsoft_teams', 'sendgrid', 'discord'])
    expect([provider, secretProblem(provider, 'not a key')]).toEqual([provider, expect.stringMatching(/^must be the/)]);
});

test('the dashboard offers every sender', () => {
  const source = readFileSync(join(root, 'src/dashboard/screens/edges/modules/webhook-fields.tsx'), 'utf8');
  const [, offered = ''] = /PROVIDERS = `([^`]*)`/.exec(source) ?? [];
  expect(offered.trim().split(/\s+/)).toEqual(all);
});

// Messages of Amazon SNS: signed well, changed, sent again later, and by somebody else.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { webhookVerification } from '../../../src/edge/modules/webhook-verification.ts';
import { compilePolicyDocument } from '../../../src/policy/compile/policy.ts';
import { verifyWebhook } from '../../../src/policy/webhooks/verify.ts';
import { ENDPOINT, NOON } from '../exchange-support.ts';
import {
  CERTIFICATE_URL,
  type CertificateHost,
  confirmation,
  type Fields,
  newSigner,
  notification,
  refusal,
  type SignedBy,
  sent,
  startCertificateHost,
  TOPIC,
  worldOf,
} from './sns-sender.ts';

let signer: SignedBy;
let stranger: SignedBy;
let host: CertificateHost;
beforeAll(async () => {
  [signer, stranger] = await Promise.all([newSigner(), newSigner()]);
  host = await startCertificateHost(signer.pem);
});
afterAll(() => host.close());
beforeEach(() => {
  host.asked.length = 0;
  host.publish(signer.pem);
});

const world = () => worldOf(host);
const verified = (body: Fields | string, fields?: [string, string][]) =>
  verifyWebhook('sns', '', sent(body, fields), world());

const messages: [string, Fields][] = [
  ['a notification', notification()],
  ['a notification with a subject', notification({ Subject: 'Orders' })],
  ['a notification whose subject is null', notification({ Subject: null })],
  [
    'a notification with what is not signed',
    notification({ UnsubscribeURL: 'https://a/', MessageAttributes: { a: {} } }),
  ],
  ['a confirmation of a subscription', confirmation()],
  ['a confirmation of its end', confirmation('UnsubscribeConfirmation')],
];

describe.each(['1', '2'] as const)('signed as version %s', (version) => {
  test.each(messages)('%s comes in', async (_, fields) => {
    expect(await verified(signer.sign(fields, version))).toEqual({ verified: true });
  });

  test.each(messages)('%s that somebody else signed stays out', async (_, fields) => {
    expect(await verified(stranger.sign(fields, version))).toEqual(
      refusal(/^the signature is not that of this message/),
    );
  });

  test('it does not come in as the other version', async () => {
    const SignatureVersion = version === '1' ? '2' : '1';
    expect(await verified({ ...signer.sign(notification(), version), SignatureVersion })).toEqual(refusal('signature'));
  });
});

const signedMembers: [string, string[]][] = [
  ['Notification', ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn']],
  ['SubscriptionConfirmation', ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn']],
];
describe.each(signedMembers)('of a %s', (Type, names) => {
  const signed = () => signer.sign(Type === 'Notification' ? notification({ Subject: 'Orders' }) : confirmation(), '2');

  test.each(names)('a changed %s stays out', async (name) => {
    const changed = name === 'Timestamp' ? new Date(NOON - 999).toISOString() : 'other';
    expect(await verified({ ...signed(), [name]: changed })).toEqual(refusal(/^the signature is not that of/));
  });

  test.each(names)('a missing %s stays out', async (name) => {
    for (const value of [undefined, null, 5, ['a']])
      expect(await verified({ ...signed(), [name]: value })).toEqual(refusal(/signature|missing/));
  });
});

test.each([
  ['no JSON', 'Message=a', /Type of Notification/],
  ['a list', '[]', /Type of Notification/],
  ['an unknown type', notification({ Type: 'toString' }), /Type of Notification, SubscriptionConfirmation/],
  ['an unknown version', { SignatureVersion: '3' }, /SignatureVersion is not one of 1, 2/],
  ['a version that is a number', { SignatureVersion: 1 }, /SignatureVersion/],
  ['no signature', { Signature: undefined }, /Signature is not that of a key of RSA/],
  ['a short signature', { Signature: 'AAAA' }, /Signature is not/],
  ['a signature in hexadecimal', { Signature: 'gg'.repeat(256) }, /signature/i],
  ['no certificate', { SigningCertURL: undefined }, /SigningCertURL does not lead/],
])('%s stays out, and nothing is fetched where that can be told', async (_, change, reason) => {
  const body = typeof change === 'string' ? change : { ...signer.sign(notification()), ...change };
  expect(await verified(body)).toEqual(refusal(reason));
  expect(host.asked.length).toBeLessThanOrEqual(/signature/.test(reason.source) ? 1 : 0);
});

describe('what is not signed does not contradict what is:', () => {
  const fields = () => signer.sign(notification());
  const text = () => JSON.stringify(fields());

  test.each([
    ['the type', 'X-Amz-Sns-Message-Type', 'Notification', 'SubscriptionConfirmation'],
    ['the topic', 'x-amz-sns-topic-arn', TOPIC, `${TOPIC}2`],
    ['the id', 'x-amz-sns-message-id', notification().MessageId as string, 'x'],
  ])('%s in a header', async (_, name, right, wrong) => {
    expect(await verified(fields(), [[name, right]])).toEqual({ verified: true });
    for (const values of [[wrong], [right, wrong], [wrong, right], ['']]) {
      const list = values.map((value): [string, string] => [name, value]);
      expect(await verified(fields(), list)).toEqual(refusal(/which is signed$/));
    }
  });

  test.each(['SubscribeURL', 'Token'])('%s in a notification', async (name) => {
    expect(await verified({ ...fields(), [name]: 'https://127.0.0.1/' })).toEqual(refusal(/is not signed/));
  });

  test('a subject in a confirmation', async () => {
    expect(await verified({ ...signer.sign(confirmation()), Subject: 'a' })).toEqual(
      refusal(/Subject .*is not signed/),
    );
  });

  test.each([
    ['a member that is there twice', () => text().replace('{', `{"Message":"other",`)],
    ['one whose name is written in another way', () => text().replace('{', String.raw`{"\u004dessage":"other",`)],
    ['one whose name differs in case alone', () => text().replace(/}$/, ',"message":"other"}')],
    ['one whose name some take for the same', () => text().replace(/}$/, ',"Me\u017f\u017fage":"other"}')],
  ])('%s', async (_, body) => {
    expect(await verified(body())).toEqual(refusal(/taken for each other/));
  });

  test('names within what is not signed, and texts that look like names, are no matter', async () => {
    const more = { Message: '"Message":"a", {"Type": [\\"', MessageAttributes: { Type: { Type: 'a', Value: '}{' } } };
    expect(await verified(signer.sign(notification(more)))).toEqual({ verified: true });
  });

  test('lines of a member that would pass for other members', async () => {
    const genuine = notification({ Message: 'a', Subject: 'Orders' });
    const signed = signer.sign(genuine);
    const moved = { ...signed, Subject: undefined, MessageId: `${genuine.MessageId}\nSubject\nOrders` };
    expect(await verified(signed)).toEqual({ verified: true });
    expect(await verified(moved)).toEqual(refusal(/MessageId has more than one line/));
  });
});

const HOUR = 3_600_000;
test.each([
  ['just now', 0, true],
  ['an hour ago', -HOUR, true],
  ['longer ago', -HOUR - 1000, /3601 s ago, and up to 3600 s are taken/],
  ['in an hour', HOUR, true],
  ['later', HOUR + 1000, /3601 s from now/],
] as const)('a message is taken for an hour: signed %s', async (_, offset, expected) => {
  const body = signer.sign(notification({ Timestamp: new Date(NOON + offset).toISOString() }));
  expect(await verified(body)).toEqual(expected === true ? { verified: true } : refusal(expected));
});

test('a time that cannot be read stays out', async () => {
  expect(await verified(signer.sign(notification({ Timestamp: 'noon' })))).toEqual(refusal(/cannot be read/));
});

describe('no secret is needed, and one is not looked at', () => {
  const unsigned = {
    kind: 'refuse',
    error: 'webhookRefused',
    reason: expect.stringMatching(/sns: the body is not JSON/),
  };

  test.each(['', 'a secret'])('by the module: %j', async (secret) => {
    const module = webhookVerification({ provider: 'SNS', secret }, world());
    expect(await module.onRequest?.(sent(signer.sign(notification())))).toBeUndefined();
    expect(await webhookVerification({ provider: 'sns', secret }, world()).onRequest?.(sent('{}'))).toEqual(unsigned);
  });

  // biome-ignore lint/suspicious/noTemplateCurlyInString: policies have templates
  test.each([{}, { secret: '' }, { secret: 'a secret' }, { secret: "${req.headers['x-none'][0]}" }])(
    'by the action: %j',
    async (more) => {
      const policy = (config: object) => {
        const actions = [{ type: 'verify-webhook', config: { provider: 'sns', ...more, ...config } }];
        return compilePolicyDocument({ on_http_request: [{ actions }] }, ENDPOINT, world()).http;
      };
      expect(await policy({})?.onRequest?.(sent(signer.sign(notification())))).toBeUndefined();
      expect(await policy({})?.onRequest?.(sent('{}'))).toMatchObject({ error: 'webhookRefused' });
      expect(await policy({ enforce: false })?.onRequest?.(sent('{}'))).toBeUndefined();
    },
  );
});

test('a certificate that cannot be had is an error of the gateway, after which the sender tries again', async () => {
  host.publish('', 500);
  const module = webhookVerification({ provider: 'sns', secret: '' }, world());
  expect(await module.onRequest?.(sent(signer.sign(notification())))).toEqual({
    kind: 'refuse',
    error: 'signerUnavailable',
    reason: `sns: the certificate cannot be had: ${CERTIFICATE_URL} cannot be used: it answered 500`,
  });
});

test('a body of more than 1 MiB cannot be checked, and is refused as too large', async () => {
  const body = signer.sign(notification({ Message: 'x'.repeat(1024 * 1024) }));
  expect(await verified(body)).toMatchObject({ error: 'bodyTooLarge' });
});

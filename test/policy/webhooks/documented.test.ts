// Webhooks as the documentation of their senders, or the tests of their libraries, have them; and the questions by which
// senders test an endpoint.

import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../../src/policy/webhooks/verify.ts';
import { type ExchangeShape, environmentOf, exchangeOf, NOON } from '../exchange-support.ts';
import { bodyHash } from './senders.ts';

interface Documented {
  provider: string;
  secret: string;
  /** Unix time in seconds. */
  at?: number;
  request: ExchangeShape;
}

const documented: Documented[] = [
  {
    provider: 'github',
    secret: "It's a Secret to Everybody",
    request: {
      body: 'Hello, World!',
      fields: {
        'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
      },
    },
  },
  {
    provider: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    at: 1531420618,
    request: {
      body: 'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
      fields: {
        'X-Slack-Request-Timestamp': '1531420618',
        'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      },
    },
  },
  {
    provider: 'svix',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    at: 1614265330,
    request: {
      body: '{"test": 2432232314}',
      fields: {
        'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        'svix-timestamp': '1614265330',
        'svix-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      },
    },
  },
  {
    provider: 'twilio',
    secret: '12345',
    request: {
      host: 'mycompany.com',
      target: '/myapp.php?foo=1&bar=2',
      body: 'Digits=1234&To=%2B18005551212&From=%2B14158675309&Caller=%2B14158675309&CallSid=CA1234567890ABCDE',
      fields: {
        'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8',
        'X-Twilio-Signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=',
      },
    },
  },
  {
    provider: 'sendgrid',
    secret:
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    at: 1600112502,
    request: {
      body: '[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address","sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA","sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0","smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n',
      fields: {
        'X-Twilio-Email-Event-Webhook-Timestamp': '1600112502',
        'X-Twilio-Email-Event-Webhook-Signature':
          'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
      },
    },
  },
  {
    provider: 'contentful',
    secret: `${'a'.repeat(32)}${'b'.repeat(32)}`,
    at: 1767225600,
    request: {
      target: '/trigger/SW5zdGFuY2VGbG93Q29uZmlnOjE=',
      body: '{"sys":{"id":"5KsDBWseXY6QegucYAoacS","type":"Entry"},"fields":{"title":{"en-US":"Hello, World!"}}}',
      fields: {
        'Content-Type': 'application/vnd.contentful.management.v1+json',
        'X-Contentful-Topic': 'ContentManagement.Entry.publish',
        'x-contentful-timestamp': '1767225600000',
        'x-contentful-signature': '8dec81505760a10b542fbc36d3aa0a772b11f759eca7b2351daaf5bba8c7c6f1',
        'x-contentful-signed-headers':
          'content-type,x-contentful-signed-headers,x-contentful-timestamp,x-contentful-topic',
      },
    },
  },
];

test.each(documented)(
  'the webhook in the documentation of $provider comes in',
  async ({ provider, secret, at, request }) => {
    const exchange = exchangeOf({ method: 'POST', ...request });
    expect(
      await verifyWebhook(provider, secret, exchange, { ...environmentOf(), time: () => (at ? at * 1000 : NOON) }),
    ).toEqual({ verified: true });
  },
);

const SECRET = 'secret';
const mac = (text: string, encoding: 'hex' | 'base64') => createHmac('sha256', SECRET).update(text).digest(encoding);
const ask = (provider: string, shape: ExchangeShape) =>
  verifyWebhook(provider, SECRET, exchangeOf(shape), environmentOf());

test('Twilio signs other bodies than forms by their hash in the URL, and the hash has to fit', async () => {
  const body = '{"a":1}';
  const visit = (hash: string, sent: string) => {
    const target = `/in?bodySHA256=${hash}`;
    const signature = createHmac('sha1', SECRET).update(`https://app.example.com${target}`).digest('base64');
    return ask('twilio', { method: 'POST', target, body: sent, fields: { 'X-Twilio-Signature': signature } });
  };
  expect(await visit(bodyHash(body), body)).toEqual({ verified: true });
  expect(await visit(bodyHash(body), '{"a":2}')).toMatchObject({ verified: false });
  expect(await visit('', body)).toMatchObject({ verified: false });
});

test('HubSpot signs URLs with some of their characters decoded', async () => {
  const fields = (signed: string) => ({
    'X-HubSpot-Request-Timestamp': `${NOON}`,
    'X-HubSpot-Signature-v3': mac(`GET${signed}${NOON}`, 'base64'),
  });
  const target = '/in?to=a%40b.example%2Fc&of=%25';
  expect(
    await ask('hubspot', { target, fields: fields('https://app.example.com/in?to=a@b.example/c&of=%25') }),
  ).toEqual({
    verified: true,
  });
  expect(
    await ask('hubspot', { target, fields: fields('https://app.example.com/in?to=a@b.example/c&of=%') }),
  ).toMatchObject({
    verified: false,
  });
});

test('Contentful is refused where the time is not among what it signed', async () => {
  const fields = {
    'x-contentful-timestamp': `${NOON}`,
    'x-contentful-signed-headers': 'x-contentful-signed-headers',
    'x-contentful-signature': mac('POST\n/\nx-contentful-signed-headers:x-contentful-signed-headers\n', 'hex'),
  };
  expect(await ask('contentful', { method: 'POST', fields })).toMatchObject({ verified: false });
});

test('the check of an endpoint by Twitter is answered with the token, signed', async () => {
  const answer = await ask('twitter', { target: '/in?crc_token=NGMxY2JmZDkt&nonce=1' });
  expect(answer).toMatchObject({ challenge: { kind: 'answer', status: 200 } });
  expect(bodyOf(answer)).toBe(JSON.stringify({ response_token: `sha256=${mac('NGMxY2JmZDkt', 'base64')}` }));
});

test('nobody gets anything signed that could be the body of a webhook', async () => {
  for (const text of ['{"a":1}', '[]', ' ', 'a b', 'a'.repeat(257)]) {
    expect(await ask('twitter', { target: `/?crc_token=${encodeURIComponent(text)}` })).toMatchObject({
      verified: false,
    });
    expect(await zoom({ event: 'endpoint.url_validation', payload: { plainToken: text } })).toEqual({ verified: true });
  }
});

test('the check of an endpoint by Worldline is answered with what its header says', async () => {
  const fields = { 'X-GCS-Webhooks-Endpoint-Verification': '51fcbbe7-3e66-4c1a-8a0b-6d4a3e1d2f00' };
  expect(bodyOf(await ask('worldline', { fields }))).toBe('51fcbbe7-3e66-4c1a-8a0b-6d4a3e1d2f00');
  expect(await ask('worldline', { method: 'POST', fields })).toMatchObject({ verified: false });
  const script = { 'X-GCS-Webhooks-Endpoint-Verification': '<script>' };
  expect(await ask('worldline', { fields: script })).toMatchObject({ verified: false });
});

test('the check of an endpoint by Xero is answered with 200 or 401, as it is signed', async () => {
  const body = '{"events":[],"firstEventSequence":0,"lastEventSequence":0,"entropy":"S0m3r4N"}';
  const visit = (signature: string) => ask('xero', { method: 'POST', body, fields: { 'x-xero-signature': signature } });
  expect(await visit(mac(body, 'base64'))).toMatchObject({ challenge: { status: 200 } });
  expect(await visit('bm90IHRoaXM=')).toMatchObject({ challenge: { status: 401 } });
});

test('the check of an endpoint by Zoom is answered when it is signed, and only then', async () => {
  const check = { event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' } };
  const encryptedToken = mac('qgg8vlvZRS6UYooatFL8Aw', 'hex');
  expect(bodyOf(await zoom(check))).toBe(JSON.stringify({ plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken }));
  expect(await ask('zoom', { method: 'POST', body: JSON.stringify(check) })).toMatchObject({ verified: false });
});

function zoom(message: object) {
  const body = JSON.stringify(message);
  const at = NOON / 1000;
  const fields = { 'x-zm-request-timestamp': `${at}`, 'x-zm-signature': `v0=${mac(`v0:${at}:${body}`, 'hex')}` };
  return ask('zoom', { method: 'POST', body, fields });
}

function bodyOf(verification: Awaited<ReturnType<typeof verifyWebhook>>): string {
  return 'challenge' in verification ? verification.challenge.body.toString() : 'no answer';
}

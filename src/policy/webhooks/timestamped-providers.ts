// Webhook providers that also sign a timestamp, which prevents replay attacks.

import { challenges } from './challenges.ts';
import { fieldPairs, header, hmac, type SharedSecretProvider, timestampAndBody } from './provider.ts';

const BASE64 = 'base64';

/** The scheme of Stripe: `t=…,v1=…`. */
const stripeLike = (name: string, key = 'v1', timestamp = 't') =>
  hmac({ in: fieldPairs(name, key), at: fieldPairs(name, timestamp), signed: timestampAndBody('.') });

/** The scheme of Slack: `v0=…`, with the timestamp in a field of its own. */
const slackLike = (name: string, timestamp: string, version = 'v0', answer?: SharedSecretProvider['answer']) =>
  hmac({
    in: header(name, `${version}=`),
    at: header(timestamp),
    signed: timestampAndBody(':', `${version}:`),
    answer,
  });

/** The Standard Webhooks specification: `v1,…` for each key, and an id. */
const standardWebhooks = (prefix: string) =>
  hmac({
    in: (message) =>
      (message.header(`${prefix}-signature`) ?? '')
        .split(' ')
        .flatMap((signature) => (signature.startsWith('v1,') ? signature.slice('v1,'.length) : [])),
    at: header(`${prefix}-timestamp`),
    signed: (message, timestamp) => [`${message.header(`${prefix}-id`) ?? ''}.${timestamp}.`, message.body],
    encoding: BASE64,
    isKeyEncoded: true,
  });

/** The providers by name. */
export const timestampedProviders: Record<string, SharedSecretProvider> = {
  airship: hmac({ in: header('x-ua-signature'), at: header('x-ua-timestamp'), signed: timestampAndBody(':') }),
  box: hmac({
    // The secret may be either of the two keys of an account.
    in: (message) => ['box-signature-primary', 'box-signature-secondary'].flatMap((name) => message.header(name) ?? []),
    at: header('box-delivery-timestamp'),
    signed: (message, timestamp) => [message.body, timestamp],
    encoding: BASE64,
  }),
  brex: standardWebhooks('webhook'),
  buildkite: stripeLike('x-buildkite-signature', 'signature', 'timestamp'),
  calendly: stripeLike('calendly-webhook-signature'),
  clerk: standardWebhooks('svix'),
  frameio: slackLike('x-frameio-signature', 'x-frameio-request-timestamp'),
  graphcms: hmac({
    in: fieldPairs('gcms-signature', 'sign'),
    at: fieldPairs('gcms-signature', 't'),
    signed: (message, timestamp) => [
      JSON.stringify({
        Body: message.body.toString(),
        EnvironmentName: fieldPairs('gcms-signature', 'env')(message)[0] ?? '',
        TimeStamp: Number(timestamp),
      }),
    ],
    encoding: BASE64,
  }),
  mux: stripeLike('mux-signature'),
  openai: standardWebhooks('webhook'),
  orb: hmac({
    in: fieldPairs('x-orb-signature', 'v1', ' '),
    at: header('x-orb-timestamp'),
    signed: timestampAndBody(':', 'v1:'),
  }),
  paddle: hmac({
    in: fieldPairs('paddle-signature', 'h1', ';'),
    at: fieldPairs('paddle-signature', 'ts', ';'),
    signed: timestampAndBody(':'),
  }),
  pinwheel: slackLike('x-pinwheel-signature', 'x-timestamp', 'v2'),
  resend: standardWebhooks('svix'),
  slack: slackLike('x-slack-signature', 'x-slack-request-timestamp'),
  standard_webhooks: standardWebhooks('webhook'),
  stripe: stripeLike('stripe-signature'),
  svix: standardWebhooks('svix'),
  tiktok: stripeLike('tiktok-signature', 's'),
  workos: stripeLike('workos-signature'),
  zendesk: hmac({
    in: header('x-zendesk-webhook-signature'),
    at: header('x-zendesk-webhook-signature-timestamp'),
    signed: timestampAndBody(''),
    encoding: BASE64,
  }),
  zoom: slackLike('x-zm-signature', 'x-zm-request-timestamp', 'v0', challenges.zoom),
};

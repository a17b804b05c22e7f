// Webhook providers that sign more or less than the body, or in another way.

import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isForm, jsonAt, queryOf, sortedForm, type WebhookMessage } from './message.ts';
import { header, hmac, isSameText, type SharedSecretProvider } from './provider.ts';

const BASE64 = 'base64';
/** The most header fields in the signature of Contentful. */
const CONTENTFUL_FIELDS_MAX = 50;
/** The percent-encodings that HubSpot decodes in a URL before it signs. */
const HUBSPOT_DECODED = /%(3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/gi;

/** The providers by name. */
export const customProviders: Record<string, SharedSecretProvider> = {
  contentful: hmac({
    in: header('x-contentful-signature'),
    at: header('x-contentful-timestamp'),
    signed: contentfulRequest,
  }),
  discord: {
    signatures: header('x-signature-ed25519'),
    timestamp: header('x-signature-timestamp'),
    hasValidSignature(message, [signature = ''], secret, timestamp) {
      const key = ed25519Key(secret);
      const bytes = Buffer.from(signature, 'hex');
      return key !== undefined && verify(null, Buffer.concat([Buffer.from(timestamp), message.body]), key, bytes);
    },
    secretProblem: (secret) => (ed25519Key(secret) ? undefined : 'must be the public key, as 64 hexadecimal digits'),
  },
  gitlab: {
    signatures: header('x-gitlab-token'),
    hasValidSignature: (_message, [token = ''], secret) => isSameText(token, secret),
  },
  hubspot: hmac({
    in: header('x-hubspot-signature-v3'),
    at: header('x-hubspot-request-timestamp'),
    signed: (message, timestamp) => [
      message.method + message.url.replace(HUBSPOT_DECODED, decodeURIComponent),
      message.body,
      timestamp,
    ],
    encoding: BASE64,
  }),
  mailchimp: hmac({
    in: header('x-mandrill-signature'),
    signed: (message) =>
      isForm(message) || message.body.length === 0 ? [message.url, sortedForm(message)] : undefined,
    algorithm: 'sha1',
    encoding: BASE64,
  }),
  // Mailgun signs only a token and the timestamp. An attacker who has seen one signature can change the rest of the message.
  mailgun: hmac({
    in: (message) => textsAt(message, 'signature', 'signature'),
    at: (message) => textsAt(message, 'signature', 'timestamp'),
    signed: (message, timestamp) => [timestamp, textsAt(message, 'signature', 'token')[0] ?? ''],
  }),
  sendgrid: {
    signatures: header('x-twilio-email-event-webhook-signature'),
    timestamp: header('x-twilio-email-event-webhook-timestamp'),
    hasValidSignature(message, [signature = ''], secret, timestamp) {
      const key = ecdsaKey(secret);
      const bytes = Buffer.from(signature, BASE64);
      return key !== undefined && verify('sha256', Buffer.concat([Buffer.from(timestamp), message.body]), key, bytes);
    },
    secretProblem: (secret) =>
      ecdsaKey(secret) ? undefined : 'must be the verification key, which is a public key in Base64',
  },
  square: hmac({
    in: header('x-square-hmacsha256-signature'),
    signed: (message) => [message.url, message.body],
    encoding: BASE64,
  }),
  trello: hmac({
    in: header('x-trello-webhook'),
    signed: (message) => [message.body, message.url],
    algorithm: 'sha1',
    encoding: BASE64,
  }),
  twilio: hmac({ in: header('x-twilio-signature'), signed: twilioRequest, algorithm: 'sha1', encoding: BASE64 }),
};

/** The signed text of Twilio: a form is signed with its parameters, another body through its hash in the URL. */
function twilioRequest(message: WebhookMessage): string[] | undefined {
  if (message.body.length === 0) return [message.url];
  if (isForm(message)) return [message.url, sortedForm(message)];
  const hash = createHash('sha256').update(message.body).digest('hex');
  return isSameText(queryOf(message, 'bodySHA256')?.toLowerCase() ?? '', hash) ? [message.url] : undefined;
}

/** The signed text of Contentful: method, target, the fields that the request lists, and the body, each on a line. */
function contentfulRequest(message: WebhookMessage): (string | Buffer)[] | undefined {
  const names = (message.header('x-contentful-signed-headers') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase());
  // An unsigned timestamp could be forged.
  if (!names.includes('x-contentful-timestamp') || names.length > CONTENTFUL_FIELDS_MAX) return undefined;
  const fields = names.map((name) => `${name}:${message.header(name)?.trim() ?? ''}`).join(';');
  return [`${message.method}\n${message.target}\n${fields}\n`, message.body];
}

function textsAt(message: WebhookMessage, ...path: string[]): string[] {
  const value = jsonAt(message, ...path);
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

function ed25519Key(hex: string): KeyObject | undefined {
  if (!/^[0-9a-f]{64}$/i.test(hex)) return undefined;
  const x = Buffer.from(hex, 'hex').toString('base64url');
  return readKey(() => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }));
}

function ecdsaKey(encoded: string): KeyObject | undefined {
  const key = readKey(() => createPublicKey({ key: Buffer.from(encoded, BASE64), format: 'der', type: 'spki' }));
  return key?.asymmetricKeyType === 'ec' ? key : undefined;
}

function readKey(read: () => KeyObject): KeyObject | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

// Responses to challenges, by which some providers test an endpoint. The gateway responds itself, as it has the secret.

import { createHmac } from 'node:crypto';
import type { Responded } from '../../http/module.ts';
import { jsonAt, queryOf } from './message.ts';
import type { SharedSecretProvider } from './provider.ts';

/**
 * The tokens that the gateway signs on request. They cannot be the body of a webhook; otherwise a stranger could have a
 * forged webhook signed.
 */
const TOKEN = /^[A-Za-z0-9+/_=-]{1,256}$/;

/** The challenge of each provider that has one. */
export const challenges = {
  /** The challenge-response check: it returns the token of the query with its signature. */
  twitter(message, secret) {
    const token = message.method === 'GET' ? queryOf(message, 'crc_token') : undefined;
    if (!token || !TOKEN.test(token)) return undefined;
    return respond(
      200,
      json({ response_token: `sha256=${createHmac('sha256', secret).update(token).digest('base64')}` }),
    );
  },

  /** A GET with a header whose value is returned. */
  worldline(message) {
    const token = message.method === 'GET' ? message.header('x-gcs-webhooks-endpoint-verification') : undefined;
    return token && TOKEN.test(token) ? respond(200, { type: 'text/plain', body: token }) : undefined;
  },

  /** "Intent to receive": an empty list of events. Some are signed wrongly, to test that the endpoint refuses them. */
  xero(message, _secret, isSigned) {
    const events = jsonAt(message, 'events');
    if (!Array.isArray(events) || events.length > 0) return undefined;
    return isSigned
      ? respond(200, { type: 'text/plain', body: '' })
      : {
          ...respond(401, { type: 'text/plain', body: '' }),
          reason: 'the test of the endpoint is not signed with the secret',
        };
  },

  /** The validation of a URL: it returns the token with its signature. */
  zoom(message, secret, isSigned) {
    if (!isSigned || jsonAt(message, 'event') !== 'endpoint.url_validation') return undefined;
    const plainToken = jsonAt(message, 'payload', 'plainToken');
    if (typeof plainToken !== 'string' || !TOKEN.test(plainToken)) return undefined;
    const encryptedToken = createHmac('sha256', secret).update(plainToken).digest('hex');
    return respond(200, json({ plainToken, encryptedToken }));
  },
} satisfies Record<string, SharedSecretProvider['answer']>;

interface Content {
  type: string;
  body: string;
}

const json = (value: object): Content => ({ type: 'application/json', body: JSON.stringify(value) });

function respond(status: number, { type, body }: Content): Responded {
  // The content comes from the client. A browser must not interpret it as a page.
  const fields = [
    ['Content-Type', type],
    ['X-Content-Type-Options', 'nosniff'],
  ] as const;
  return { kind: 'answer', status, fields, body: Buffer.from(body) };
}

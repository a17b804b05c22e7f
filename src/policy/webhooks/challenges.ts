// The questions by which some senders test an endpoint before they use it. The gateway knows the secret, so it answers.

import { createHmac } from 'node:crypto';
import type { Responded } from '../../http/module.ts';
import { jsonAt, queryOf } from './message.ts';
import type { SharedSecretProvider } from './provider.ts';

/**
 * What may be signed for somebody who asks: no text that could also be the body of a webhook, or a stranger could have one
 * signed.
 */
const TOKEN = /^[A-Za-z0-9+/_=-]{1,256}$/;

export const challenges = {
  /** The challenge-response check: the token in the query, signed. */
  twitter(message, secret) {
    const token = message.method === 'GET' ? queryOf(message, 'crc_token') : undefined;
    if (!token || !TOKEN.test(token)) return undefined;
    return answer(
      200,
      json({ response_token: `sha256=${createHmac('sha256', secret).update(token).digest('base64')}` }),
    );
  },

  /** A GET whose header is to be sent back. */
  worldline(message) {
    const token = message.method === 'GET' ? message.header('x-gcs-webhooks-endpoint-verification') : undefined;
    return token && TOKEN.test(token) ? answer(200, { type: 'text/plain', body: token }) : undefined;
  },

  /** "Intent to receive": an empty list of events, signed well or badly to see whether the endpoint can tell. */
  xero(message, _secret, isSigned) {
    const events = jsonAt(message, 'events');
    if (!Array.isArray(events) || events.length > 0) return undefined;
    return isSigned
      ? answer(200, { type: 'text/plain', body: '' })
      : {
          ...answer(401, { type: 'text/plain', body: '' }),
          reason: 'the test of the endpoint is not signed with the secret',
        };
  },

  /** The validation of a URL: a token, to be sent back with what it is signed. */
  zoom(message, secret, isSigned) {
    if (!isSigned || jsonAt(message, 'event') !== 'endpoint.url_validation') return undefined;
    const plainToken = jsonAt(message, 'payload', 'plainToken');
    if (typeof plainToken !== 'string' || !TOKEN.test(plainToken)) return undefined;
    const encryptedToken = createHmac('sha256', secret).update(plainToken).digest('hex');
    return answer(200, json({ plainToken, encryptedToken }));
  },
} satisfies Record<string, SharedSecretProvider['answer']>;

interface Content {
  type: string;
  body: string;
}

const json = (value: object): Content => ({ type: 'application/json', body: JSON.stringify(value) });

function answer(status: number, { type, body }: Content): Responded {
  // What is sent back is the asker's: no browser is to take it for a page.
  const fields = [
    ['Content-Type', type],
    ['X-Content-Type-Options', 'nosniff'],
  ] as const;
  return { kind: 'answer', status, fields, body: Buffer.from(body) };
}

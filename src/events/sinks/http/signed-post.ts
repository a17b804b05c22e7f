// Sends a signed POST, as in Standard Webhooks (https://www.standardwebhooks.com), to a host that the operator allows.

import { createHmac } from 'node:crypto';
import type { EventSettings } from '../../settings.ts';
import { SinkError } from '../sink.ts';
import { isUrlAllowed } from './allowed-hosts.ts';
import type { Outbound } from './outbound.ts';
import { post } from './post.ts';
import { responseError } from './response-errors.ts';

export interface SignedMessage {
  /** The same whenever the same is sent. It has no full stops, which separate the parts that are signed. */
  id: string;
  /** JSON. */
  body: Buffer;
}

export interface SignedPostContext {
  settings: Pick<EventSettings, 'eventWebhookHosts'>;
  outbound: Outbound;
  /** The wall clock, in milliseconds. */
  now(): number;
}

/** A place that signed messages are sent to. */
export interface SignedPostTarget {
  url: URL;
  key: Buffer;
}

/** @throws {SinkError} when the operator does not allow the host, or there is nothing to sign with. */
export function openSignedPost(
  url: string,
  signingSecret: string | null,
  { settings }: Pick<SignedPostContext, 'settings'>,
): SignedPostTarget {
  const allowed = isUrlAllowed(url, settings);
  if (allowed !== true) throw new SinkError('config', { code: 'FORBIDDEN_HOST', message: `the URL ${allowed}` });
  if (!signingSecret)
    throw new SinkError('config', { code: 'NoSigningSecret', message: 'the target has no signing secret' });
  return { url: new URL(url), key: keyOf(signingSecret) };
}

/** @throws {SinkError} when it is not taken. Everything that it waits for ends with `signal`. */
export async function postSigned(
  { url, key }: SignedPostTarget,
  { id, body }: SignedMessage,
  { outbound, now }: Omit<SignedPostContext, 'settings'>,
  signal: AbortSignal,
): Promise<void> {
  const timestamp = String(Math.floor(now() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const answer = await post(url, { headers, body, agents: outbound.allowedHosts }, signal);
  // The body is not shown to tenants, because it may come from a service that is not theirs.
  if (answer.status >= 300 || answer.status < 200) throw responseError(answer, '', now());
}

/** The key of a signing secret: base64 after the prefix `whsec_`, or the secret itself without it. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}

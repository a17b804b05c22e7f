// Validates the body of POST /tunnels.

import { DetailError } from '../detail-error.ts';
import type { Protocol } from '../gateway-client.ts';
import { type ForwardsTo, readForwardsTo } from '../settings/forwards-to.ts';
import { type PolicyDocument, PolicyError, readPolicy } from './policy.ts';
import { PROTOCOLS } from './state-format.ts';

/** A valid request for a tunnel. */
export interface TunnelRequest {
  protocol: Protocol;
  /** The upstream as it was sent. */
  forwardsTo: string;
  upstream: ForwardsTo;
  /** The domain as it was sent; null for any. */
  domain: string | null;
  /** The policy; null for the default. */
  policy: PolicyDocument | null;
}

const MEMBERS = ['protocol', 'forwards_to', 'domain', 'policy'];
const DOMAIN = /^(\*\.)?(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+\.?$/i;
const TCP_ADDRESS = /^([a-z0-9.-]{0,253}):(\d{1,5})$/i;

/** Validates a parsed body. @throws {DetailError} 400 with all mistakes. */
export function readTunnelRequest(body: unknown): TunnelRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new DetailError(400, 'The body must be a JSON object.');
  const value = body as Record<string, unknown>;
  const mistakes = Object.keys(value)
    .filter((name) => !MEMBERS.includes(name))
    .map((name) => `there is no member ${JSON.stringify(name)} here; known are: ${MEMBERS.join(', ')}`);
  const read = <T>(name: string, parse: (value: unknown) => T): T => {
    try {
      return parse(value[name]);
    } catch (error) {
      // The message of a PolicyError names the member itself.
      mistakes.push(error instanceof PolicyError ? error.message : `${name} ${(error as Error).message}`);
      return undefined as T; // The value is never used: the mistake throws below.
    }
  };
  const protocol = read('protocol', readProtocol);
  const forwardsTo = read('forwards_to', (text) => readText(text, 'must be a text: host:port, as 127.0.0.1:3000'));
  const upstream = forwardsTo === undefined ? undefined : read('forwards_to', () => readForwardsTo(forwardsTo));
  const domain = read('domain', (name) => readDomain(name, protocol));
  const policy = read('policy', (document) =>
    document == null ? null : readPolicy(document, protocol ?? 'http', 'policy'),
  );
  if (mistakes.length > 0 || upstream === undefined) throw new DetailError(400, `${mistakes.join('; ')}.`);
  return { protocol, forwardsTo, upstream, domain, policy };
}

function readProtocol(value: unknown): Protocol {
  const protocol = PROTOCOLS.find((known) => known === (value ?? 'http'));
  if (protocol) return protocol;
  throw new Error(`must be one of ${PROTOCOLS.join(', ')}`);
}

/** Validates a domain. @returns null for any. @throws {Error} the expected form. */
export function readDomain(value: unknown, protocol: Protocol | undefined): string | null {
  if (value == null || value === '') return null;
  const domain = readText(value, 'must be a text, or null for any');
  if (protocol === 'tcp') {
    const port = Number(TCP_ADDRESS.exec(domain)?.[2]);
    if (port >= 1 && port <= 65_535) return domain;
    throw new Error('must be host:port or :port for tcp, or null for any');
  }
  if (DOMAIN.test(domain)) return domain;
  throw new Error('must be a full name, as device.example.com, without scheme or port; or null for any');
}

function readText(value: unknown, message: string): string {
  if (typeof value === 'string') return value;
  throw new Error(message);
}

// What a tunnel asks the gateway to do to its traffic, as the options of its bind say it. What is right in it, and what is
// done, is the public side's to judge.

import type { Fields } from '../protocol/messages/fields.ts';
import type { Allowance } from './control/acl.ts';
import { AgentError } from './control/agent-errors.ts';
import type { Handling, LiveEndpoint, Proto } from './endpoints/endpoint.ts';

export interface TunnelModules {
  /** Networks; `allow` empty: all but those of `deny`. */
  ipRestriction?: { allow: string[]; deny: string[] };
  userAgentFilter?: { allow: string[]; deny: string[] };
  basicAuth?: { username: string; password: string }[];
  /** `isSealed`: the secret came sealed, and cannot be read here. */
  webhookVerification?: { provider: string; secret: string; isSealed: boolean };
  compression?: boolean;
  requestHeaders?: { add: Record<string, string>; remove: string[] };
  responseHeaders?: { add: Record<string, string>; remove: string[] };
  /** The share of failed requests, from 0 to 1. */
  errorThreshold?: number;
  websocketTcpConverter?: boolean;
  /** Certificates in PEM, one behind the other. */
  clientAuthorities?: string;
  /** A traffic policy, in JSON or YAML. */
  trafficPolicy?: string;
}

/** For whom modules are made. */
export interface HandledTunnel extends Pick<LiveEndpoint, 'accountId' | 'proto' | 'tls'> {
  /** What its credential allows now: it covers where a policy forwards to. */
  allowance: Allowance;
}

/**
 * Makes what is done to a tunnel's traffic; undefined where that is nothing. Rejects with an `AgentError` that names what is
 * not right.
 */
export type MakeHandling = (modules: TunnelModules, tunnel: HandledTunnel) => Promise<Handling | undefined>;

/** What only makes sense for HTTP. */
const OF_HTTP = [
  'Auth',
  'BasicAuth',
  'WebhookVerification',
  'UserAgentFilter',
  'CircuitBreaker',
  'Compression',
  'RequestHeaders',
  'ResponseHeaders',
  'WebsocketTCPConverter',
];

/** @throws {AgentError} for what this protocol cannot have; MessageError for what is not of the right type. */
export function readModules(options: Fields, proto: Proto): TunnelModules {
  const isHttp = proto === 'http' || proto === 'https';
  const stranger = isHttp ? undefined : OF_HTTP.find((name) => isAskedFor(options, name));
  if (stranger) throw new AgentError('optionOfHttp', { option: stranger, proto });
  const authority = ['MutualTLSCA', 'MutualTLSAtEdge'].find((name) => options.has(name));
  if (authority && (proto === 'http' || proto === 'tcp'))
    throw new AgentError('optionOfTls', { option: authority, proto });
  return {
    ipRestriction: readLists(options, 'IPRestriction', 'allow_cidrs', 'deny_cidrs'),
    userAgentFilter: readLists(options, 'UserAgentFilter', 'allow', 'deny'),
    basicAuth: readBasicAuth(options),
    webhookVerification: readWebhook(options),
    compression: options.has('Compression'),
    requestHeaders: readHeaders(options, 'RequestHeaders'),
    responseHeaders: readHeaders(options, 'ResponseHeaders'),
    errorThreshold: options.has('CircuitBreaker')
      ? options.fields('CircuitBreaker').number('error_threshold')
      : undefined,
    websocketTcpConverter: options.has('WebsocketTCPConverter'),
    clientAuthorities: authority && decoded(options.fields(authority).text('mutual_tls_ca')),
    trafficPolicy:
      options.text('TrafficPolicy') || (options.has('Policy') ? JSON.stringify(options.object('Policy')) : undefined),
  };
}

/** Empty texts of some SDKs mean nothing. */
function isAskedFor(options: Fields, name: string): boolean {
  return options.has(name) && (name !== 'Auth' || options.text(name) !== '');
}

function readLists(options: Fields, name: string, allow: string, deny: string) {
  if (!options.has(name)) return undefined;
  const lists = options.fields(name);
  return { allow: lists.texts(allow), deny: lists.texts(deny) };
}

function readBasicAuth(options: Fields): TunnelModules['basicAuth'] {
  const old = options.has('Auth') ? options.text('Auth') : '';
  if (old) return [readPair(old)];
  if (!options.has('BasicAuth')) return undefined;
  return options
    .fields('BasicAuth')
    .list('credentials')
    .map((credential) => {
      const password = credential.text('cleartext_password');
      if (!password && credential.has('hashed_password') && credential.text('hashed_password'))
        throw new AgentError('optionNotActedOn', { option: 'hashed_password' });
      return { username: credential.text('username'), password };
    });
}

function readPair(text: string): { username: string; password: string } {
  const [, username = '', password = ''] = /^([^:]*):?(.*)$/s.exec(text) ?? [];
  return { username, password };
}

function readWebhook(options: Fields): TunnelModules['webhookVerification'] {
  if (!options.has('WebhookVerification')) return undefined;
  const webhook = options.fields('WebhookVerification');
  const secret = webhook.text('secret');
  return { provider: webhook.text('provider'), secret, isSealed: !secret && webhook.text('sealed_secret') !== '' };
}

function readHeaders(options: Fields, name: string): TunnelModules['requestHeaders'] {
  if (!options.has(name)) return undefined;
  const headers = options.fields(name);
  const add = headers.texts('add').map((line): [string, string] => {
    const colon = line.indexOf(':');
    return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return { add: Object.fromEntries(add), remove: headers.texts('remove') };
}

const decoded = (base64: string) => Buffer.from(base64, 'base64').toString();

// Asks the gateway's API for a credential of the device's own, with a provisioning key.

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { GatewayRefusal } from '../client/gateway-refusal.ts';
import type { ForwardProxy } from '../gateway-client.ts';
import { connectThrough } from '../proxy/connect-through.ts';

const TIMEOUT_MS = 15_000;
const ANSWER_MAX_BYTES = 64 * 1024;
const TOO_MANY_REQUESTS = 429;
const UNAUTHENTICATED = 401;
const SERVER_ERROR = 500;

const MUTATION = `mutation ($input: ExchangeProvisioningKeyInput!) {
  exchangeProvisioningKey(input: $input) { authtoken }
}`;

/** How to reach the gateway's API. */
export interface ApiAccess {
  /** Its base URL. */
  api: URL;
  /** The trusted CA certificates, in PEM; undefined for those that Node trusts. */
  ca: string | undefined;
  /** The proxy in between; null for none. */
  proxy: ForwardProxy | null;
}

/** What is sent to the gateway. */
export interface Exchange {
  provisioningKey: string;
  deviceId: string;
  name: string;
  hostName: string;
}

interface Answer {
  data?: { exchangeProvisioningKey?: { authtoken?: unknown } | null } | null;
  errors?: { message?: string; extensions?: { errorCode?: string; status?: number } }[];
}

/**
 * @returns the authtoken.
 * @throws {GatewayRefusal} when the gateway refuses the key. @throws {Error} when it cannot be asked now.
 */
export async function exchangeKey(access: ApiAccess, exchange: Exchange): Promise<string> {
  const body = JSON.stringify({ query: MUTATION, variables: { input: exchange } });
  const { api } = access;
  const { status, text } = await post(new URL('graphql', `${api.href.replace(/\/*$/, '')}/`), access, body);
  const { data, errors } = parse(text, status);
  const [error] = errors ?? [];
  if (error) {
    const { errorCode = '', status: own = status } = error.extensions ?? {};
    const message = `the provisioning key was not taken: ${error.message ?? 'the gateway does not say why'}`;
    if (own >= SERVER_ERROR || own === TOO_MANY_REQUESTS) throw new Error(message);
    throw new GatewayRefusal({ code: errorCode, message });
  }
  const authtoken = data?.exchangeProvisioningKey?.authtoken;
  if (typeof authtoken === 'string' && authtoken !== '') return authtoken;
  throw new Error(`what answers at ${api.href} is no gateway: it gave no authtoken`);
}

function parse(text: string, status: number): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    const what = status === UNAUTHENTICATED ? 'it wants a password' : `it answered with status ${status}`;
    throw new Error(`GATEWAY_API does not lead to the API of a gateway: ${what}`);
  }
}

async function post(url: URL, access: ApiAccess, body: string): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const connection = await connectionTo(url, access, signal);
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(new Error(`GATEWAY_API cannot be reached: ${error.message}`));
    const request = url.protocol === 'https:' ? requestHttps : requestHttp;
    const sent = request(url, { method: 'POST', headers, signal, ...connection });
    sent.on('error', fail);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', fail);
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > ANSWER_MAX_BYTES) sent.destroy(new Error('its answer is too long'));
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end(body);
  });
}

/** The options of the request that say how to connect. */
async function connectionTo(url: URL, { ca, proxy }: ApiAccess, signal: AbortSignal) {
  if (!proxy) return { agent: false, ca } as const;
  const target = targetOf(url);
  const socket = await connectThrough(proxy, target, { ca, timeout: TIMEOUT_MS, signal }).catch((error: Error) => {
    throw new Error(`GATEWAY_API cannot be reached: ${error.message}`);
  });
  if (url.protocol === 'http:') return { createConnection: () => socket };
  const servername = isIP(target.host) ? '' : target.host;
  return { createConnection: () => tlsConnect({ socket, host: target.host, servername, ca }) };
}

/** The host and the port of the API. */
export function targetOf({ protocol, hostname, port }: URL): { host: string; port: number } {
  const usualPort = protocol === 'https:' ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usualPort : Number(port) };
}

// The options of a bind: what the gateway does with each, and which it does not know how to do.

import { Fields } from '../protocol/fields.ts';
import type { Bind } from '../protocol/messages.ts';
import { AgentError } from './agent-errors.ts';
import type { LiveEndpoint, Proto } from './endpoint.ts';

const PROTOS: readonly string[] = ['http', 'https', 'tcp', 'tls'];

/**
 * What would change who may visit, or what they get. An option that is not acted on is refused: an agent that asked for
 * a password must not be open to all.
 */
const UNSUPPORTED = [
  'Auth',
  'BasicAuth',
  'OAuth',
  'OIDC',
  'SAML',
  'IPRestriction',
  'MutualTLSCA',
  'MutualTLSAtEdge',
  'WebhookVerification',
  'UserAgentFilter',
  'CircuitBreaker',
  'Compression',
  'RequestHeaders',
  'ResponseHeaders',
  'WebsocketTCPConverter',
];

export interface BindOptions {
  proto: Proto;
  /** The name asked for, as it came; '' for any. */
  name: string;
  /** The port asked for, of a TCP address; null for any. */
  port: number | null;
  proxyProtocol: 0 | 1 | 2;
  upstreamProtocol: 'http1' | 'http2';
  tls: LiveEndpoint['tls'];
  /** The traffic policy as it came, JSON or YAML; '' for none. */
  policy: string;
}

/**
 * Reads what is asked for.
 * @param baseDomain what a `Subdomain` is below.
 * @throws {AgentError} for what this gateway cannot do; MessageError for what is not of the protocol.
 */
export function readOptions(bind: Bind, baseDomain: string): BindOptions {
  const { proto } = bind;
  if (!PROTOS.includes(proto)) throw new AgentError('unknownProtocol');
  for (const binding of bind.bindings) {
    if (binding !== 'public') throw new AgentError('unknownBinding', { binding });
  }
  const options = new Fields(bind.options);
  for (const name of UNSUPPORTED) {
    if (isAskedFor(options, name)) throw new AgentError('optionNotActedOn', { option: name });
  }
  if (options.has('HostHeaderRewrite') && options.flag('HostHeaderRewrite'))
    throw new AgentError('optionNotActedOn', { option: 'HostHeaderRewrite' });
  return {
    proto: proto as Proto,
    ...(proto === 'tcp' ? readAddress(options, baseDomain) : { name: readName(options, baseDomain), port: null }),
    proxyProtocol: readProxyProtocol(options),
    upstreamProtocol: readUpstreamProtocol(bind.forwardsProto),
    tls: readTls(options),
    policy: options.text('TrafficPolicy') || readPolicyObject(options),
  };
}

/** Empty texts and empty objects of some SDKs mean nothing, as does the empty object of one that is switched off. */
function isAskedFor(options: Fields, name: string): boolean {
  if (!options.has(name)) return false;
  if (name === 'Auth') return options.text(name) !== '';
  return true;
}

function readName(options: Fields, baseDomain: string): string {
  const url = options.text('URL');
  if (url) return url.replace(/^[a-z]+:\/\//i, '').replace(/\/$/, '');
  const subdomain = options.text('Subdomain');
  return options.text('Hostname') || options.text('Domain') || (subdomain && `${subdomain}.${baseDomain}`);
}

function readAddress(options: Fields, baseDomain: string): { name: string; port: number | null } {
  const address = options.text('URL').replace(/^tcp:\/\//i, '') || options.text('Addr');
  if (address === '') return { name: '', port: null };
  const [, name = '', port] = /^([^:]*)(?::(\d{1,5}))?$/.exec(address) ?? [];
  if (name === '' && port === undefined) throw new AgentError('badAddress', { address, host: baseDomain });
  return { name, port: port === undefined || port === '0' ? null : Number(port) };
}

function readProxyProtocol(options: Fields): 0 | 1 | 2 {
  const version = options.number('ProxyProto');
  if (version === 0 || version === 1 || version === 2) return version;
  throw new AgentError('badProxyProtocol');
}

function readUpstreamProtocol(text: string): 'http1' | 'http2' {
  if (text === '' || text === 'http1') return 'http1';
  if (text === 'http2') return 'http2';
  throw new AgentError('badUpstreamProtocol');
}

function readTls(options: Fields): LiveEndpoint['tls'] {
  if (!options.has('TLSTermination')) return 'passthrough';
  const termination = options.fields('TLSTermination');
  if (termination.has('sealed_key') && termination.text('sealed_key') !== '')
    throw new AgentError('optionNotActedOn', { option: 'sealed_key' });
  const [certificate, key] = ['cert', 'key'].map((name) => Buffer.from(termination.text(name), 'base64').toString());
  return certificate && key ? { certificate, key } : 'gateway';
}

/** Some SDKs send the policy as an object, under its older name. */
function readPolicyObject(options: Fields): string {
  if (!options.has('Policy')) return '';
  return JSON.stringify(options.object('Policy'));
}

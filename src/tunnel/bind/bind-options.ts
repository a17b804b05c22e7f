// The options of a bind request: parsed where the gateway supports them, refused where it does not.

import { Fields } from '../../protocol/messages/fields.ts';
import type { Bind } from '../../protocol/messages/messages.ts';
import { AgentError } from '../control/agent-errors.ts';
import type { LiveEndpoint, Proto, RequestedModules } from '../endpoints/endpoint.ts';
import { isInternalName } from '../endpoints/endpoint-registry.ts';
import type { TunnelModules } from '../tunnel-modules.ts';
import { bindOptions } from './option-list.ts';

const PROTOS: readonly string[] = ['http', 'https', 'tcp', 'tls'];

/** Those that are refused whatever they say. Modules refuse what is within theirs. */
const REFUSED = Object.entries(bindOptions).flatMap(([name, { effect }]) =>
  effect === 'refused' && !name.includes('.') ? [name] : [],
);

export interface BindOptions {
  proto: Proto;
  /** The requested name as the agent sent it; '' for a generated one. */
  name: string;
  /** The requested port of a TCP address; null for any. Of an internal name its port; null for that of the protocol. */
  port: number | null;
  proxyProtocol: 0 | 1 | 2;
  upstreamProtocol: 'http1' | 'http2';
  tls: LiveEndpoint['tls'];
  /** The modules that the agent requests for the tunnel's traffic. */
  modules: RequestedModules;
}

/**
 * Reads the options of a bind request: `bindOptions` says what becomes of each.
 * @param baseDomain the domain that a `Subdomain` is relative to.
 * @param modules reads the modules that the agent requests.
 * @throws {AgentError} for an option that this gateway does not support; MessageError for a malformed message.
 */
export function readOptions(bind: Bind, baseDomain: string, modules: Pick<TunnelModules, 'read'>): BindOptions {
  const { proto } = bind;
  if (!PROTOS.includes(proto)) throw new AgentError('unknownProtocol');
  const options = new Fields(bind.options);
  const address = proto === 'tcp' ? readAddress(options, baseDomain) : withPort(readName(options, baseDomain));
  const expected = isInternalName(address.name.toLowerCase()) ? 'internal' : 'public';
  const unknown = bind.bindings.find((binding) => binding !== expected);
  if (unknown !== undefined) throw new AgentError('unknownBinding', { binding: unknown });
  const refused = REFUSED.find((name) => options.has(name)) ?? (bind.ipPolicy === '' ? undefined : 'IPPolicyRef');
  if (refused !== undefined) throw new AgentError('optionNotActedOn', { option: refused });
  return {
    proto: proto as Proto,
    ...address,
    proxyProtocol: readProxyProtocol(options),
    upstreamProtocol: readUpstreamProtocol(bind.forwardsProto),
    tls: readTls(options),
    modules: modules.read(options, proto as Proto),
  };
}

/** The URL wins if it has a host. SDKs that asked for any host by `https://` bind again with that URL and the name that they got. */
function readName(options: Fields, baseDomain: string): string {
  const host = options
    .text('URL')
    .replace(/^[a-z]+:\/\//i, '')
    .replace(/\/$/, '');
  if (host) return host;
  const subdomain = options.text('Subdomain');
  return options.text('Hostname') || options.text('Domain') || (subdomain && `${subdomain}.${baseDomain}`);
}

/** Only internal names have ports of their own: those of others are the listeners'. */
function withPort(text: string): { name: string; port: number | null } {
  const [, name, port] = /^(.*\.internal):(\d{1,5})$/i.exec(text) ?? [];
  return name === undefined ? { name: text, port: null } : { name, port: Number(port) };
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

/** Reads the protocol that the upstream speaks. @throws {AgentError} for an unknown one. */
export function readUpstreamProtocol(text: string): 'http1' | 'http2' {
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

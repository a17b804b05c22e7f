// The agent's configuration file: named endpoints, and the settings that it needs to reach the gateway.

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Protocol, TunnelSpec } from '../gateway-client.ts';
import { ConfigError } from '../settings/config.ts';
import {
  isDirectoryUrl,
  readDirectoryUrl,
  readForwardsTo,
  readHostHeader,
  readUpstreamTimeout,
} from '../settings/forwards-to.ts';
import { type PolicyDocument, readPolicy } from './policy.ts';
import { readDomain } from './request.ts';
import { PROTOCOLS } from './state-format.ts';
import { Mistakes, readYaml, type Section, YamlError } from './yaml-document.ts';

/** An endpoint of the file. */
export interface NamedEndpoint {
  name: string;
  /** Without a policy the default one applies; a text is as the gateway reads it, in JSON or YAML. */
  policy: PolicyDocument | string | null;
  spec: Omit<TunnelSpec, 'policy' | 'resume'>;
}

/** What a configuration file says. */
export interface ConfigFile {
  /** Values for variables of the environment that are not set there. */
  variables: Record<string, string>;
  endpoints: NamedEndpoint[];
}

export const NO_CONFIG_FILE: ConfigFile = { variables: {}, endpoints: [] };

const VERSION = 3;
const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;
const METADATA_MAX_BYTES = 4096;

/** The keys of `agent`, and the variables that they stand for. */
const VARIABLES: Record<string, string> = {
  authtoken: 'TUNNEL_AUTHTOKEN',
  connect_url: 'GATEWAY_ADDR',
  connect_cas: 'GATEWAY_CA',
  proxy_url: 'PROXY_URL',
};
const ENDPOINT_KEYS = ['name', 'url', 'description', 'metadata', 'traffic_policy', 'pooling_enabled', 'upstream'];
const UPSTREAM_KEYS = ['url', 'protocol', 'proxy_protocol', 'directory_listing', 'timeout', 'host_header'];

/** Reads the file. @throws {YamlError} all mistakes, each with its line. */
export async function readConfigFile(file: string): Promise<ConfigFile> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new YamlError(`${file} must be a file with the agent's configuration in YAML: ${error.message}`);
  });
  const mistakes = new Mistakes(file);
  const root = await readYaml(text, ['version', 'agent', 'endpoints'], mistakes);
  root?.get('version', (value) => check(value === VERSION || value === `${VERSION}`, `must be ${VERSION}`));
  const agent = root?.section('agent', Object.keys(VARIABLES));
  const variables = Object.entries(VARIABLES).flatMap(([key, name]) => {
    const value = agent?.get(key, readText);
    // As everything in the file, names of files are relative to it.
    return value === undefined ? [] : [[name, key === 'connect_cas' ? resolve(dirname(file), value) : value]];
  });
  const names = new Set<string>();
  const endpoints = (root?.sections('endpoints', ENDPOINT_KEYS) ?? []).flatMap((each) => readEndpoint(each, names));
  mistakes.throwAny();
  return { variables: Object.fromEntries(variables) as Record<string, string>, endpoints };
}

/** The endpoints that are to be opened. @throws {ConfigError} when there is none of a name. */
export function chooseEndpoints({ endpoints }: ConfigFile, names: readonly string[] | 'all'): NamedEndpoint[] {
  const known = endpoints.map(({ name }) => name);
  const wanted = names === 'all' ? known : names;
  const unknown = wanted.find((name) => !known.includes(name));
  const isMissing = names === 'all' && known.length === 0;
  if (unknown === undefined && !isMissing) return endpoints.filter(({ name }) => wanted.includes(name));
  const what = isMissing ? 'There are no endpoints' : `There is no endpoint "${unknown}"`;
  throw new ConfigError(
    `${what} in the configuration file${known.length > 0 ? `; there are: ${known.join(', ')}` : ''}.`,
  );
}

/** @param names those of the endpoints before, to which this one is added. */
function readEndpoint(endpoint: Section, names: Set<string>): NamedEndpoint[] {
  const name = endpoint.get('name', (value) => {
    const text = readText(value);
    check(NAME.test(text), 'must be 1 to 64 letters, digits, dots, hyphens or underscores');
    check(!names.has(text), `is "${text}", as the name of another endpoint`);
    names.add(text);
    return text;
  });
  endpoint.get('description', readText); // For who reads the file.
  const address = endpoint.get('url', readUrl) ?? { protocol: 'http', domain: null };
  const metadata = endpoint.get('metadata', readMetadata) ?? '';
  const pooling = endpoint.get('pooling_enabled', readFlag) ?? false;
  const policy = endpoint.get('traffic_policy', (value) => readPolicyValue(value, address.protocol)) ?? null;
  const upstream = endpoint.section('upstream', UPSTREAM_KEYS);
  const forwardsTo = upstream?.get('url', readUpstreamUrl);
  const upstreamProtocol = upstream?.get('protocol', (value) => oneOf(value, ['http1', 'http2'] as const));
  const proxyProtocol = upstream?.get('proxy_protocol', (value) => Number(oneOf(String(value), ['1', '2'])) as 1 | 2);
  const upstreamTimeout = upstream?.get('timeout', (value) => readUpstreamTimeout(readText(value)));
  if (name === undefined) endpoint.fail('must have a name');
  if (!upstream) endpoint.fail('must have an upstream with a url');
  else if (forwardsTo === undefined) upstream.fail('must have a url, as http://127.0.0.1:3000');
  if (name === undefined || forwardsTo === undefined) return [];
  if (proxyProtocol && /^(https|tls|file):/.test(forwardsTo))
    upstream?.fail('is only for a server without TLS, where it comes first', 'proxy_protocol');
  if (upstreamProtocol === 'http2' && !['http', 'https'].includes(address.protocol))
    upstream?.fail('is only for http and https', 'protocol');
  const hostHeader = upstream?.get('host_header', (value) => readHostHeader(readText(value), forwardsTo));
  if (hostHeader !== undefined && !['http', 'https'].includes(address.protocol))
    upstream?.fail('is only for http and https', 'host_header');
  if (upstreamTimeout !== undefined && !['http', 'https'].includes(address.protocol))
    upstream?.fail('is only for http and https', 'timeout');
  if (isDirectoryUrl(forwardsTo) && !['http', 'https'].includes(address.protocol))
    upstream?.fail('is a directory: that is only for http and https', 'url');
  const isListed = upstream?.get('directory_listing', readFlag) ?? false;
  const spec = {
    ...address,
    forwardsTo,
    metadata,
    pooling,
    upstreamProtocol,
    upstreamTimeout,
    hostHeader,
    proxyProtocol,
    isListed,
  };
  return [{ name, policy, spec }];
}

/** Parses a public URL: `https://name`, `tcp://host:port`, or a scheme alone for any name. */
function readUrl(value: unknown): { protocol: Protocol; domain: string | null } {
  const [, scheme = '', rest = ''] = /^([a-z]+):\/\/([^/]*)\/?$/i.exec(readText(value)) ?? [];
  const protocol = PROTOCOLS.find((known) => known === scheme.toLowerCase());
  check(protocol !== undefined, `must be a URL with one of ${PROTOCOLS.join(', ')}, as https://name.example.com`);
  return { protocol, domain: readDomain(rest, protocol) };
}

function readUpstreamUrl(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : readText(value);
  if (isDirectoryUrl(text)) return readDirectoryUrl(text) && text;
  return readForwardsTo(/^\d+$/.test(text) ? `localhost:${text}` : text).text;
}

function readPolicyValue(value: unknown, protocol: Protocol): PolicyDocument | string {
  return typeof value === 'string' ? value : readPolicy(value, protocol, 'the policy');
}

function readMetadata(value: unknown): string {
  const text = readText(value);
  check(Buffer.byteLength(text) <= METADATA_MAX_BYTES, `must have at most ${METADATA_MAX_BYTES} bytes`);
  return text;
}

function readText(value: unknown): string {
  check(typeof value === 'string', 'must be a text');
  return value;
}

function readFlag(value: unknown): boolean {
  check(typeof value === 'boolean', 'must be true or false');
  return value;
}

function oneOf<T extends string>(value: unknown, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  check(found !== undefined, `must be one of ${known.join(', ')}`);
  return found;
}

function check(isRight: boolean, message: string): asserts isRight {
  if (!isRight) throw new Error(message);
}

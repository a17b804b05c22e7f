// The environment, read once into one typed object. Nothing else in the agent reads it.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { LOG_LEVELS, type LogFormat, type LogLevel } from '../log.ts';
import { type AllowList, parseAllowList } from './allow-list.ts';

/** Host and port; port 0 is any free one. IPv6 addresses stand without their brackets. */
export interface HostAddress {
  host: string;
  port: number;
}

export interface AgentConfig {
  /** Empty where none is given: only commands that open a session need it. */
  authtoken: string;
  gateway: HostAddress;
  /** Certificates of the authorities to trust, in PEM; undefined: those that Node trusts. */
  ca: string | undefined;
  /** The name that the agent's own API is published under. */
  domain: string | null;
  apiAddress: HostAddress;
  apiToken: string | null;
  stateFile: string;
  /** What visitors under way get to come to their end when a tunnel or the agent stops, in milliseconds. */
  drainMs: number;
  /** Where the default policy is; null for the one that the agent brings along. */
  policyFile: string | null;
  forwardsTo: AllowList;
  logLevel: LogLevel;
  logFormat: LogFormat;
}

/** What is wrong with the environment: a line for each variable, which begins with its name. */
export class ConfigError extends Error {}

const NAME = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;
const TOKEN_LEAST = 16;
/** Milliseconds: an hour would keep every update of a device waiting. */
const DRAIN_MAX = 600_000;

/**
 * Reads the variables; one that is set to nothing counts as not set.
 * @param directory what relative file names are relative to.
 * @throws {ConfigError} that names all mistakes, without repeating secrets.
 */
export function readConfig(env: Record<string, string | undefined>, directory: string): AgentConfig {
  const mistakes: string[] = [];
  const read = <T>(name: string, fallback: string, parse: (text: string) => T): T => {
    try {
      return parse(env[name]?.trim() || fallback);
    } catch (error) {
      mistakes.push(`${name} ${(error as Error).message}`);
      return undefined as T; // Never seen: what follows throws.
    }
  };
  const file = (text: string) => (text === '' ? null : resolve(directory, text));
  const config: AgentConfig = {
    authtoken: read('TUNNEL_AUTHTOKEN', '', visible),
    gateway: read('GATEWAY_ADDR', '127.0.0.1:4443', (text) => readAddress(text, 1)),
    ca: read('GATEWAY_CA', '', (text) => readAuthorities(file(text))),
    domain: read('AGENT_DOMAIN', '', domainName),
    apiAddress: read('AGENT_API_ADDR', '127.0.0.1:8000', (text) => readAddress(text, 0)),
    apiToken: read('AGENT_API_TOKEN', '', apiToken),
    stateFile: read('AGENT_STATE_FILE', 'tunnels.json', (text) => resolve(directory, text)),
    drainMs: read('AGENT_DRAIN_MS', '7000', milliseconds),
    policyFile: read('AGENT_POLICY_FILE', '', file),
    forwardsTo: read('AGENT_FORWARDS_TO', '', parseAllowList),
    logLevel: read('LOG_LEVEL', 'info', (text) => oneOf(text, LOG_LEVELS)),
    logFormat: read('LOG_FORMAT', 'json', (text) => oneOf(text, ['json', 'text'])),
  };
  if (mistakes.length > 0) throw new ConfigError(mistakes.join('\n'));
  return config;
}

/** Reads `host:port`, `[IPv6]:port`. @throws with what would be right. */
export function readAddress(text: string, leastPort: number): HostAddress {
  const [, v6, name, digits] = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = v6 ?? name ?? '';
  const port = Number(digits);
  const isHost = v6 === undefined ? NAME.test(host) : isIP(v6) === 6;
  if (isHost && port >= leastPort && port <= 65_535) return { host, port };
  throw new Error(`must be host:port, as 127.0.0.1:4443 or [::1]:4443, with a port from ${leastPort} to 65535`);
}

/** The other way round. */
export function writeAddress({ host, port }: HostAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether it can be a host's name, or an IPv4 address. */
export const isHostName = (text: string) => NAME.test(text);

function visible(text: string): string {
  if (/^[\x21-\x7e]*$/.test(text)) return text;
  throw new Error('must be printable ASCII characters without spaces');
}

function apiToken(text: string): string | null {
  if (text === '') return null;
  if (text.length >= TOKEN_LEAST && visible(text)) return text;
  throw new Error(`must be at least ${TOKEN_LEAST} printable ASCII characters`);
}

function milliseconds(text: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) <= DRAIN_MAX) return Number(text);
  throw new Error(`must be milliseconds from 0 to ${DRAIN_MAX}`);
}

function domainName(text: string): string | null {
  if (text === '') return null;
  const name = text.toLowerCase().replace(/\.$/, '');
  if (NAME.test(name) && !isIP(name)) return name;
  throw new Error('must be a domain name, without scheme, port or wildcard');
}

function readAuthorities(file: string | null): string | undefined {
  if (file === null) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`must name a file that can be read: ${(error as Error).message}`);
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Error('must name a file with certificates in PEM');
}

function oneOf<T extends string>(text: string, known: readonly T[]): T {
  if ((known as readonly string[]).includes(text)) return text as T;
  throw new Error(`must be one of ${known.join(', ')}`);
}

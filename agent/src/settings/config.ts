// Reads the environment into one typed object. No other file of the agent reads the environment.

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { Labels } from '../gateway-client.ts';
import { LOG_LEVELS, type LogFormat, type LogLevel } from '../log.ts';
import type { LogFileSettings } from '../log-file.ts';
import { type AllowList, parseAllowList } from './allow-list.ts';
import { type HostAddress, isHostName, readAddress, readAddresses } from './host-address.ts';
import { readLabels } from './labels.ts';
import { chooseProxy, type ProxyFor, readProxyUrl } from './proxy.ts';
import { readSecretFile } from './secret-files.ts';

/** The configuration of an agent. */
export interface AgentConfig {
  /** The authtoken; empty when it is not set: a device may have been given one. */
  authtoken: string;
  /** How the device gets a credential of its own where it has none; null: it does not. */
  provisioning: { key: string; api: URL } | null;
  /** The agent listeners of the gateway, each once. */
  gateways: HostAddress[];
  /** The number of sessions to have at once; null for two where there are two addresses, otherwise one. */
  legs: number | null;
  /** The trusted CA certificates, in PEM; undefined for those that Node trusts. */
  ca: string | undefined;
  /** The proxy that leads to a gateway, or to its API. */
  proxyFor: ProxyFor;
  /** The domain under which the agent's own API is published; null when it is not published. */
  domain: string | null;
  apiAddress: HostAddress;
  apiToken: string | null;
  /** Whether the API may be published without a token. */
  isApiUnprotected: boolean;
  stateFile: string;
  /** Whether the state file was named: then commands for one tunnel keep its address there, too. */
  keepsState: boolean;
  /** What the agent is called in the gateway's API; '' for the name of the host. */
  name: string;
  /** What it is labelled with there. */
  labels: Labels;
  /** The time in which open streams may end when a tunnel or the agent stops; milliseconds. */
  drainMs: number;
  /** The file with the default policy; null for the built-in one. */
  policyFile: string | null;
  forwardsTo: AllowList;
  logLevel: LogLevel;
  logFormat: LogFormat;
  /** Where the log goes instead of standard error; null for that. */
  logFile: LogFileSettings | null;
  /** Whom to tell how the agent is, as sd_notify(3) describes it. */
  serviceManager: { socket: string | null; watchdogMs: number | null };
}

/** The environment is invalid. The message has a line for each variable, which starts with its name. */
export class ConfigError extends Error {}

const TOKEN_MIN_LENGTH = 16;
/** The most sessions that a gateway takes of one agent. */
const LEGS_MAX = 4;
/** What the gateway keeps of an agent's name and labels. */
const NAME_MAX_BYTES = 128;
const LABELS_MAX = 20;
const LABEL_KEY_MAX_BYTES = 64;
const LABEL_VALUE_MAX_BYTES = 128;
/** The largest log file, in megabytes, and how many of them are kept at most. */
const LOG_FILE_MAX_MB = 1000;
const LOG_FILES_MAX = 100;
/** The longest drain, in milliseconds: a longer one would delay every update of a device. */
const DRAIN_MAX_MS = 600_000;

/**
 * Reads the variables. An empty one counts as not set.
 * @param directory the base of relative file names.
 * @throws {ConfigError} all mistakes, without any secret values.
 */
export function readConfig(env: Record<string, string | undefined>, directory: string): AgentConfig {
  const mistakes: string[] = [];
  const read = <T>(name: string, fallback: string, parse: (text: string) => T): T => {
    try {
      return parse(env[name]?.trim() || fallback);
    } catch (error) {
      mistakes.push(`${name} ${(error as Error).message}`);
      return undefined as T; // The value is never used: the mistake throws below.
    }
  };
  const secret = <T>(name: string, parse: (text: string) => T): T => {
    try {
      return read(name, readSecretFile(env, name, directory), parse);
    } catch (error) {
      mistakes.push((error as Error).message);
      return undefined as T;
    }
  };
  const file = (text: string) => (text === '' ? null : resolve(directory, text));
  const config: AgentConfig = {
    authtoken: secret('TUNNEL_AUTHTOKEN', printableAscii),
    provisioning: readProvisioning(secret('TUNNEL_PROVISIONING_KEY', printableAscii), read, mistakes),
    gateways: read('GATEWAY_ADDR', '127.0.0.1:4443', readAddresses),
    legs: read('LEGS', '', legs),
    ca: read('GATEWAY_CA', '', (text) => readAuthorities(file(text))),
    proxyFor: readProxies(env, read),
    domain: read('AGENT_DOMAIN', '', domainName),
    apiAddress: read('AGENT_API_ADDR', '127.0.0.1:8000', (text) => readAddress(text, 0)),
    apiToken: secret('AGENT_API_TOKEN', apiToken),
    isApiUnprotected: read('AGENT_API_UNPROTECTED', 'false', (text) => oneOf(text, ['true', 'false'])) === 'true',
    stateFile: read('AGENT_STATE_FILE', 'tunnels.json', (text) => resolve(directory, text)),
    keepsState: Boolean(env.AGENT_STATE_FILE?.trim()),
    name: read('AGENT_NAME', '', agentName),
    labels: read('AGENT_LABELS', '', agentLabels),
    drainMs: read('AGENT_DRAIN_MS', '7000', milliseconds),
    policyFile: read('AGENT_POLICY_FILE', '', file),
    forwardsTo: read('AGENT_FORWARDS_TO', '', parseAllowList),
    logLevel: read('LOG_LEVEL', 'info', (text) => oneOf(text, LOG_LEVELS)),
    logFormat: read('LOG_FORMAT', 'json', (text) => oneOf(text, ['json', 'text'])),
    logFile: readLogFile(read('LOG_FILE', '', file), read),
    serviceManager: readServiceManager(env, process.pid),
  };
  if (mistakes.length > 0) throw new ConfigError(mistakes.join('\n'));
  return config;
}

/**
 * Checks that the API is not published for everybody by mistake: whoever asks it can open tunnels into the network of the device,
 * and names stand in public logs of certificates.
 * @throws {ConfigError}
 */
export function checkPublication({ domain, apiToken, isApiUnprotected }: AgentConfig): void {
  if (domain === null || apiToken !== null || isApiUnprotected) return;
  throw new ConfigError(
    `AGENT_API_TOKEN must be set with AGENT_DOMAIN: whoever knows ${domain} could open tunnels of this agent. If that is meant, set AGENT_API_UNPROTECTED=true`,
  );
}

type Read = <T>(name: string, fallback: string, parse: (text: string) => T) => T;

function readProxies(env: Record<string, string | undefined>, read: Read): ProxyFor {
  const url = (text: string) => (text === '' ? null : readProxyUrl(text));
  const own = read('PROXY_URL', '', url);
  // A mistake in what other programs use, too, matters only where it is used.
  const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
  const name = own ? undefined : names.find((each) => env[each]?.trim());
  const usual = name === undefined ? null : read(name, '', url);
  return chooseProxy(own, usual, env.NO_PROXY?.trim() || env.no_proxy?.trim() || '');
}

function readLogFile(file: string | null, read: Read): LogFileSettings | null {
  const megabytes = read('LOG_FILE_MAX_MB', '10', (text) => wholeNumber(text, LOG_FILE_MAX_MB));
  const keep = read('LOG_FILE_KEEP', '3', (text) => wholeNumber(text, LOG_FILES_MAX));
  return file === null ? null : { file, maxBytes: megabytes * 1_000_000, keep };
}

/** What systemd sets is no setting of ours: what is not right there is not for this process. */
function readServiceManager(env: Record<string, string | undefined>, pid: number): AgentConfig['serviceManager'] {
  const microseconds = Number(env.WATCHDOG_USEC ?? '');
  const isForThis = env.WATCHDOG_PID === undefined || env.WATCHDOG_PID === String(pid);
  return {
    socket: env.NOTIFY_SOCKET || null,
    watchdogMs: isForThis && microseconds >= 1000 ? microseconds / 1000 : null,
  };
}

function readProvisioning(key: string, read: Read, mistakes: string[]): AgentConfig['provisioning'] {
  const api = read('GATEWAY_API', '', apiUrl);
  if (!key) return null;
  if (api) return { key, api };
  if (api === null)
    mistakes.push('GATEWAY_API must be set to the URL of the API, as TUNNEL_PROVISIONING_KEY is sent there');
  return null;
}

function apiUrl(text: string): URL | null {
  if (text === '') return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') return url;
  throw new Error('must be an http or https URL, as https://gateway.example.com:4000');
}

function printableAscii(text: string): string {
  if (/^[\x21-\x7e]*$/.test(text)) return text;
  throw new Error('must be printable ASCII characters without spaces');
}

function apiToken(text: string): string | null {
  if (text === '') return null;
  if (text.length >= TOKEN_MIN_LENGTH && printableAscii(text)) return text;
  throw new Error(`must be at least ${TOKEN_MIN_LENGTH} printable ASCII characters`);
}

function milliseconds(text: string): number {
  if (/^\d{1,6}$/.test(text) && Number(text) <= DRAIN_MAX_MS) return Number(text);
  throw new Error(`must be milliseconds from 0 to ${DRAIN_MAX_MS}`);
}

function wholeNumber(text: string, max: number): number {
  if (/^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= max) return Number(text);
  throw new Error(`must be a number from 1 to ${max}`);
}

function legs(text: string): number | null {
  if (text === '') return null;
  if (/^\d$/.test(text) && Number(text) >= 1 && Number(text) <= LEGS_MAX) return Number(text);
  throw new Error(`must be a number from 1 to ${LEGS_MAX}`);
}

function agentName(text: string): string {
  if (Buffer.byteLength(text) <= NAME_MAX_BYTES && text.isWellFormed() && !/\p{Cc}/u.test(text)) return text;
  throw new Error(`must be at most ${NAME_MAX_BYTES} bytes, without control characters`);
}

function agentLabels(text: string): Labels {
  if (text === '') return {};
  const labels = readLabels(text.split(',').map((label) => label.trim()));
  const entries = Object.entries(labels);
  const fits = ([key, value]: [string, string]) =>
    Buffer.byteLength(key) <= LABEL_KEY_MAX_BYTES && Buffer.byteLength(value) <= LABEL_VALUE_MAX_BYTES;
  if (entries.length <= LABELS_MAX && entries.every(fits)) return labels;
  throw new Error(
    `must be at most ${LABELS_MAX} labels, with keys of at most ${LABEL_KEY_MAX_BYTES} bytes and values of at most ${LABEL_VALUE_MAX_BYTES}`,
  );
}

function domainName(text: string): string | null {
  if (text === '') return null;
  const name = text.toLowerCase().replace(/\.$/, '');
  if (isHostName(name) && !isIP(name)) return name;
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

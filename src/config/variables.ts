// The variables that the gateway knows: what each may be, and what it is when it is not set.

import { isIP } from 'node:net';
import { z } from 'zod';
import { isProxiedListener, proxiedListeners } from '../edge/proxied/settings.ts';
import { type EventEndpoints, isHostRule } from '../events/settings.ts';
import { endpointNames } from '../events/sinks/index.ts';
import { readCidr } from '../net/networks.ts';

const PORTS = 65_535;

const port = (fallback: number) =>
  z.coerce
    .number('must be a port number')
    .int('must be a whole number')
    .min(0, 'must be 0 (any free port) or more')
    .max(PORTS, `must be at most ${PORTS}`)
    .default(fallback);

const count = (fallback: number, least: number, most: number) =>
  z.coerce
    .number('must be a number')
    .int('must be a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`)
    .default(fallback);

/** Comma-separated words; blanks around them do not count. */
const list = (fallback: string) =>
  z
    .string()
    .default(fallback)
    .transform((text) => text.split(',').flatMap((word) => word.trim() || []));

/** `first-last`; one port stands for itself, and 0 for any free one. */
const portRange = z
  .string()
  .regex(/^\d{1,5}(-\d{1,5})?$/, 'must be a range of ports, as in 20000-20999, or 0 for any free one')
  .transform((text) => {
    const [first = 0, last = first] = text.split('-').map(Number);
    return { first, last };
  })
  .refine(({ first, last }) => first <= last && last <= PORTS && (first > 0 || last === 0), {
    error: `must go upwards, from 1 to ${PORTS}`,
  });

const milliseconds = (fallback: number, least = 1) => count(fallback, least, 24 * 3_600_000);

const domainName = z
  .string()
  .regex(/^(?=.{1,200}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/, 'must be a domain name');

/** `kinesis=https://host:port,sts=…` */
const endpoints = list('').transform((pairs, context) => {
  const read: Record<string, string> = {};
  for (const pair of pairs) {
    const [name = '', url = ''] = pair.split(/=(.*)/s);
    if (!endpointNames.includes(name) || !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      context.addIssue(`must be name=URL with names out of ${endpointNames.join(', ')}: "${pair}" is not`);
    read[name] = url.replace(/\/+$/, '');
  }
  return read satisfies EventEndpoints;
});

const networksOrHosts = list('').transform((entries, context) => {
  for (const entry of entries)
    if (!isHostRule(entry))
      context.addIssue(`must be names, as hooks.example.com or *.example.com, or networks: "${entry}" is not`);
  return entries;
});

const networks = list('').transform((entries, context) => {
  for (const entry of entries)
    if (!readCidr(entry))
      context.addIssue(`must be addresses or networks, as 10.0.0.2 or 10.0.0.0/8: "${entry}" is neither`);
  return entries;
});

/** Listeners that proxies may stand in front of. */
const proxied = list('').transform((names, context) => {
  for (const name of names)
    if (!isProxiedListener(name))
      context.addIssue(`must be listeners out of ${proxiedListeners.join(', ')}: "${name}" is none`);
  return names.filter(isProxiedListener);
});

/** IP addresses, each with a port or without: `10.0.0.2`, `10.0.0.2:5353`, `[fd00::2]:53`. */
const dnsServers = list('').transform((servers, context) => {
  for (const server of servers) {
    const [, bracketed, plain, number = '53'] = /^(?:\[(.*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(server) ?? [];
    if (isIP(bracketed ?? plain ?? server) === 0 || Number(number) < 1 || Number(number) > PORTS)
      context.addIssue(`must be IP addresses, as 10.0.0.2, 10.0.0.2:5353 or [fd00::2]:53: "${server}" is none`);
  }
  return servers;
});

const serverKey = z
  .string()
  .refine(
    (text) => Buffer.from(text, 'base64').toString('base64') === text && Buffer.from(text, 'base64').length === 32,
    {
      error: 'must be 32 bytes in base64 (openssl rand -base64 32)',
    },
  );

const secret = z.string().regex(/^[\x21-\x7e]{16,256}$/, 'must be 16 to 256 printable ASCII characters without spaces');

/** The environment, as text that is checked and turned into values. */
export const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  API_PORT: port(4000),
  API_TLS_CERT: z.string().optional(),
  API_TLS_KEY: z.string().optional(),
  ADMIN_PORT: port(4001),
  AGENT_PORT: port(4443),
  HTTP_PORT: port(8080),
  HTTPS_PORT: port(8443),
  TCP_PORTS: portRange.default({ first: 20_000, last: 20_999 }),
  PUBLIC_HTTP_PORT: port(0),
  PUBLIC_HTTPS_PORT: port(0),
  AGENT_HOSTS: list(''),
  TLS_DIR: z.string().min(1).optional(),
  HEARTBEAT_INTERVAL_MS: milliseconds(10_000, 10),
  HEARTBEAT_TOLERANCE_MS: milliseconds(15_000, 10),
  SESSION_HOLD_MS: milliseconds(30_000, 0),
  UPSTREAM_TIMEOUT_MS: milliseconds(60_000),
  HEAD_TIMEOUT_MS: milliseconds(10_000),
  STALL_TIMEOUT_MS: milliseconds(300_000),
  IDLE_TIMEOUT_MS: milliseconds(75_000),
  MAX_AGENTS: count(20_000, 1, 1_000_000),
  MAX_SESSIONS_PER_ACCOUNT: count(5000, 1, 1_000_000),
  MAX_TCP_PORTS_PER_ACCOUNT: count(0, 0, PORTS),
  MAX_VISITORS: count(20_000, 1, 1_000_000),
  MAX_VISITORS_PER_ADDRESS: count(0, 0, 1_000_000),
  POLICY_FETCH: z.enum(['public', 'any']).default('public'),
  PUBLIC_API_URL: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  ALLOWED_HOSTS: list('localhost,127.0.0.1,[::1]'),
  TRUSTED_PROXIES: networks,
  PROXY_PROTOCOL: proxied,
  MAX_API_CONNECTIONS: count(1024, 4, 1_000_000),
  CORS_ORIGINS: list(''),
  VERSION_HEADER_ALIASES: list(''),
  BASE_DOMAIN: domainName.default('tunnel.localhost'),
  CNAME_DOMAIN: domainName.optional(),
  ACME_DOMAIN: domainName.optional(),
  DNS_SERVERS: dnsServers,
  REGION: z.string().max(64).default(''),
  DATA_DIR: z.string().min(1).default('.data'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' })
    .or(z.literal(''))
    .optional(),
  DATABASE_POOL: count(10, 1, 1000),
  SERVER_KEY: serverKey.optional(),
  SERVER_KEY_PREVIOUS: serverKey.optional(),
  INITIAL_API_KEY: secret.optional(),
  RATE_LIMIT: count(6000, 1, 1_000_000_000),
  STRANGER_RATE_LIMIT: count(300, 1, 1_000_000_000),
  NODE_LEASE_MS: count(5000, 200, 600_000),
  DRAIN_MS: count(30_000, 0, 600_000),
  DRAIN_ANNOUNCE_MS: count(0, 0, 600_000),
  EVENT_ENDPOINTS: endpoints,
  EVENT_CA_FILE: z.string().optional(),
  EVENT_WEBHOOK_HOSTS: networksOrHosts,
  EVENT_FILE_DIR: z.string().optional(),
  EVENT_BACKLOG_MB: count(256, 1, 1_000_000),
  EVENT_BUFFER_MB: count(32, 1, 100_000),
  EVENT_TRAFFIC_HOURS: count(24, 1, 10_000),
  EVENT_AUDIT_HOURS: count(72, 1, 10_000),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  AWS_SESSION_TOKEN: z.string().optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  LOG_FORMAT: z.enum(['json', 'text']).default('json'),
});

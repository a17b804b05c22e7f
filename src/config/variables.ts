// The environment variables of the gateway: what each may be, its default, and what the manual says of it.

import { z } from 'zod';
import {
  count,
  dnsServers,
  domainName,
  endpoints,
  listValue,
  milliseconds,
  networks,
  networksOrHosts,
  PORTS,
  port,
  portRange,
  proxied,
  secretValue,
  serverKey,
} from './value-types.ts';

declare module 'zod' {
  interface GlobalMeta {
    /** The default in words, where the value itself would say nothing. */
    defaultText?: string;
  }
}

/** The environment, as text that is checked and turned into values. `npm run schema` prints it into src/manual/configuration.md. */
export const environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1').meta({ description: 'address of every listener' }),
  API_PORT: port(4000).meta({ description: 'port of the API and the dashboard; 0 is any free port' }),
  API_TLS_CERT: z.string().optional().meta({
    description:
      'certificate file in PEM (a chain, the leaf first): with it and `API_TLS_KEY`, both or neither, the API and the dashboard speak TLS; relative to the repository, read again when it changes',
  }),
  API_TLS_KEY: z.string().optional().meta({ description: 'file with the key of `API_TLS_CERT`, in PEM' }),
  ADMIN_PORT: port(4001).meta({ description: 'port of the admin listener: `/livez`, `/readyz`, `/metrics`' }),
  AGENT_PORT: port(4443).meta({ description: 'where agents connect, over TLS' }),
  HTTP_PORT: port(8080).meta({ description: 'listener for visitors over HTTP' }),
  HTTPS_PORT: port(8443).meta({ description: 'listener for visitors over HTTPS; TLS endpoints share it' }),
  TCP_PORTS: portRange
    .default({ first: 20_000, last: 20_999 })
    .meta({ description: 'ports of TCP endpoints; 0 is any free one' }),
  PUBLIC_HTTP_PORT: port(0).meta({
    description: 'port that `http` URLs of endpoints show, behind a port forwarding',
    defaultText: 'the bound ports',
  }),
  PUBLIC_HTTPS_PORT: port(0).meta({
    description: 'port that `https` URLs of endpoints show, behind a port forwarding',
    defaultText: 'the bound ports',
  }),
  AGENT_HOSTS: listValue('').meta({
    description: 'names and addresses that agents connect to, besides loopback, `HOST` and `BASE_DOMAIN`',
  }),
  TLS_DIR: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'a directory of `*.crt` with their `*.key`, in PEM; looked at again when it changes' }),
  HEARTBEAT_INTERVAL_MS: milliseconds(10_000, 10).meta({ description: 'time between two heartbeats of a session' }),
  HEARTBEAT_TOLERANCE_MS: milliseconds(15_000, 10).meta({
    description: 'a session ends after the interval and this together without a heartbeat',
  }),
  SESSION_HOLD_MS: milliseconds(30_000, 0).meta({
    description: 'how long the addresses of a lost session are kept for its credential',
  }),
  UPSTREAM_TIMEOUT_MS: milliseconds(60_000).meta({ description: 'how long an upstream may take to begin its answer' }),
  HEAD_TIMEOUT_MS: milliseconds(10_000).meta({
    description: 'how long a visitor may take for a request’s head, or for a TLS handshake',
  }),
  STALL_TIMEOUT_MS: milliseconds(300_000).meta({
    description: 'how long a request or answer may stand still in the middle',
  }),
  IDLE_TIMEOUT_MS: milliseconds(75_000).meta({
    description: 'how long a visitor’s connection may wait for its next request',
  }),
  MAX_AGENTS: count(20_000, 1, 1_000_000).meta({
    description:
      'connections of agents at once; those that have said nothing make room first, and may be half of them, a quarter from one address',
  }),
  MAX_SESSIONS_PER_ACCOUNT: count(5000, 1, 1_000_000).meta({ description: 'agents of one account at once' }),
  MAX_TCP_PORTS_PER_ACCOUNT: count(0, 0, PORTS).meta({
    description: 'ports of TCP endpoints that one account may have; 250 where any free one will do',
    defaultText: 'a quarter of `TCP_PORTS`',
  }),
  MAX_VISITORS: count(20_000, 1, 1_000_000).meta({
    description: 'connections of visitors at once; for one more, the one that has been idle for the longest is closed',
  }),
  MAX_VISITORS_PER_ADDRESS: count(0, 0, 1_000_000).meta({
    description:
      'connections that one address (IPv6: one /64) keeps when all are taken and busy: of what it holds beyond, the oldest makes way for other addresses; 0: a quarter of `MAX_VISITORS`. The visitors of an account who hold more than half make way for those of others',
  }),
  POLICY_FETCH: z.enum(['public', 'any']).default('public').meta({
    description:
      'from where traffic policies may fetch the keys of tokens, and webhook verification the certificates of Amazon SNS; `any`: private addresses too, and this machine over HTTP',
  }),
  PUBLIC_API_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .meta({
      description: 'base of `uri` and `next_page_uri`; set it behind a proxy',
      defaultText: 'the request’s own origin',
    }),
  ALLOWED_HOSTS: listValue('localhost,127.0.0.1,[::1]').meta({
    description: '`Host` header values that may be used in generated URLs',
    defaultText: 'loopback names',
  }),
  TRUSTED_PROXIES: networks.meta({
    description:
      'addresses and networks of proxies and load balancers in front of the gateway: only they may tell [the visitor’s address](operating.md#behind-a-reverse-proxy-or-load-balancer), in `X-Forwarded-For` or a header of the PROXY protocol; the API believes their `X-Forwarded-Proto` and `Forwarded` too',
  }),
  PROXY_PROTOCOL: proxied.meta({
    description:
      'listeners out of `http`, `https`, `tcp`, `agent`, `api`, where each connection from `TRUSTED_PROXIES` has to begin with a header of the PROXY protocol, version 1 or 2',
  }),
  MAX_API_CONNECTIONS: count(1024, 4, 1_000_000).meta({
    description: 'connections to the API at once; one address that is no trusted proxy may have a quarter of them',
  }),
  CORS_ORIGINS: listValue('').meta({ description: 'a list of origins, or `*`' }),
  VERSION_HEADER_ALIASES: listValue('').meta({ description: 'headers accepted in place of `Service-Version`' }),
  BASE_DOMAIN: domainName.default('tunnel.localhost').meta({ description: 'names below it are the gateway’s own' }),
  CNAME_DOMAIN: domainName
    .optional()
    .meta({ description: 'where CNAME records of reserved domains point', defaultText: '`cname.` of `BASE_DOMAIN`' }),
  ACME_DOMAIN: domainName.optional().meta({
    description: 'where ACME challenge records of reserved domains point',
    defaultText: '`acme.` of `BASE_DOMAIN`',
  }),
  DNS_SERVERS: dnsServers.meta({
    description:
      'name servers that are asked for the records of reserved domains: `10.0.0.2`, `10.0.0.2:5353`, `[fd00::2]:53`; several with commas',
    defaultText: 'the system’s',
  }),
  REGION: z.string().max(64).default('').meta({ description: 'shown by endpoints, tunnels and sessions' }),
  DATA_DIR: z.string().min(1).default('.data').meta({ description: 'holds all state; relative to the repository' }),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' })
    .or(z.literal(''))
    .optional()
    .meta({ description: '`postgresql://…` moves to a server', defaultText: 'the embedded database' }),
  DATABASE_POOL: count(10, 1, 1000).meta({
    description: 'connections to it, besides one each for the lease of the node and for what other gateways say',
  }),
  SERVER_KEY: serverKey.optional().meta({
    description: '32 bytes in base64: what digests and encryption derive from',
    defaultText: 'made in `$DATA_DIR/server.key`',
  }),
  SERVER_KEY_PREVIOUS: serverKey.optional().meta({ description: 'the key before it, to rotate' }),
  INITIAL_API_KEY: secretValue.optional().meta({
    description: 'first start only: 16 to 256 printable characters, not printed',
    defaultText: 'made and printed',
  }),
  RATE_LIMIT: count(6000, 1, 1_000_000_000).meta({ description: 'requests per minute and API key' }),
  STRANGER_RATE_LIMIT: count(300, 1, 1_000_000_000).meta({
    description: 'requests per minute and address (of IPv6: per /64) without a valid API key',
  }),
  NODE_LEASE_MS: count(5000, 200, 600_000).meta({
    description:
      'how long a silent node’s live objects count; a third of it later the others have cleared them away, and told of it',
  }),
  DRAIN_MS: count(30_000, 0, 600_000).meta({ description: 'how long a stop waits for requests under way' }),
  DRAIN_ANNOUNCE_MS: count(0, 0, 600_000).meta({
    description: 'how long `/readyz` says 503 before a stop closes the listeners: what a load balancer needs to notice',
  }),
  EVENT_ENDPOINTS: endpoints.meta({
    description: 'where requests of destinations go instead: `kinesis=https://…,sts=…`',
    defaultText: 'the clouds’ own',
  }),
  EVENT_CA_FILE: z
    .string()
    .optional()
    .meta({ description: 'PEM of authorities that destinations are trusted by, besides Node’s own' }),
  EVENT_WEBHOOK_HOSTS: networksOrHosts.meta({
    description:
      'hosts and networks that webhook destinations may call: names, `*.name`, and networks (`10.0.0.0/8`) whose addresses need not be public',
  }),
  EVENT_FILE_DIR: z.string().optional().meta({
    description:
      'the directory, which has to exist, where event destinations of the kind `file` write, each account’s in a directory named by its id (what an older version wrote stays beside them, and is not written on); unset: there are none',
  }),
  EVENT_BACKLOG_MB: count(256, 1, 1_000_000).meta({
    description: 'events that may wait for one destination, as they are stored',
  }),
  EVENT_BUFFER_MB: count(32, 1, 100_000).meta({ description: 'traffic events that may be in memory' }),
  EVENT_TRAFFIC_HOURS: count(24, 1, 10_000).meta({ description: 'how long traffic events may wait' }),
  EVENT_AUDIT_HOURS: count(72, 1, 10_000).meta({ description: 'how long audit events may wait' }),
  AWS_ACCESS_KEY_ID: z
    .string()
    .optional()
    .meta({ description: 'the identity that event destinations with a `role` assume it with: its key id' }),
  AWS_SECRET_ACCESS_KEY: z.string().optional().meta({ description: 'the secret key of that identity' }),
  AWS_SESSION_TOKEN: z
    .string()
    .optional()
    .meta({ description: 'the session token of that identity, where it has one' }),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .meta({ description: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`; logs go to standard error' }),
  LOG_FORMAT: z
    .enum(['json', 'text'])
    .default('json')
    .meta({ description: '`json`, or `text`: human-readable format' }),
});

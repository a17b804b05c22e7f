// The environment variables of the gateway: what each may be, its default, and what the manual says of it.

import { z } from 'zod';
import { alertVariables } from './alert-variables.ts';
import { certificateVariables } from './certificate-variables.ts';
import { clusterVariables } from './cluster-variables.ts';
import { figureVariables } from './figure-variables.ts';
import { policyVariables } from './policy-variables.ts';
import { ssoVariables } from './sso-variables.ts';
import {
  count,
  dnsServers,
  domainName,
  endpoints,
  hostPorts,
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
      'PEM file with a certificate chain, leaf first. Set it together with `API_TLS_KEY`, and the API and the dashboard speak TLS. A relative path begins at the repository. The file is read again when it changes',
  }),
  API_TLS_KEY: z.string().optional().meta({ description: 'PEM file with the private key of `API_TLS_CERT`' }),
  ADMIN_PORT: port(4001).meta({ description: 'port of the admin listener: `/livez`, `/readyz`, `/metrics`' }),
  AGENT_PORT: port(4443).meta({ description: 'port for agents, over TLS' }),
  HTTP_PORT: port(8080).meta({ description: 'port for visitors over HTTP' }),
  HTTPS_PORT: port(8443).meta({ description: 'port for visitors over HTTPS, and of TLS endpoints' }),
  TCP_PORTS: portRange
    .default({ first: 20_000, last: 20_999 })
    .meta({ description: 'ports of TCP endpoints; 0 is any free port' }),
  PUBLIC_HTTP_PORT: port(0).meta({
    description: 'port in the `http` URLs of endpoints, when a proxy or port forwarding is in front',
    defaultText: 'the bound ports',
  }),
  PUBLIC_HTTPS_PORT: port(0).meta({
    description: 'port in the `https` URLs of endpoints, when a proxy or port forwarding is in front',
    defaultText: 'the bound ports',
  }),
  AGENT_HOSTS: listValue('').meta({
    description: 'names and addresses that agents use to connect, in addition to loopback, `HOST` and `BASE_DOMAIN`',
  }),
  AGENT_ADDRESSES: hostPorts.meta({
    description:
      'addresses `host:port` of the agent listeners of all gateways on this database, which agents are told. With two or more, an SDK that can have [several sessions](tunnels.md#agents-on-two-gateways) opens one at each, at most four',
  }),
  AGENT_BANNER: z
    .string()
    .regex(/^[^\p{Cc}]{0,500}$/u, { error: 'must be one line of at most 500 characters' })
    .default('')
    .meta({ description: 'a line that existing agents show beside the session, to tell their users something' }),
  TLS_DIR: z.string().min(1).optional().meta({
    description: 'directory with certificates `*.crt` and their keys `*.key`, in PEM; read again when it changes',
  }),
  HEARTBEAT_INTERVAL_MS: milliseconds(10_000, 10).meta({ description: 'time between two heartbeats of a session' }),
  HEARTBEAT_TOLERANCE_MS: milliseconds(15_000, 10).meta({
    description: 'a session ends when no heartbeat arrives for the interval plus this time',
  }),
  SESSION_HOLD_MS: milliseconds(30_000, 0).meta({
    description: 'how long the addresses of a lost session stay reserved for its credential',
  }),
  AGENT_KEEP_DAYS: count(90, 1, 3650).meta({ description: 'days until an offline [agent](fleet.md) is forgotten' }),
  UPSTREAM_TIMEOUT_MS: milliseconds(60_000).meta({
    description: 'how long an upstream may take until its response begins',
  }),
  UPSTREAM_TIMEOUT_MAX_MS: milliseconds(3_600_000).meta({
    description:
      'the longest such time that agents and policies may ask for at [their endpoints](tunnels.md#time-outs)',
  }),
  HEAD_TIMEOUT_MS: milliseconds(10_000).meta({
    description: 'how long a visitor may take for a request’s head, or for a TLS handshake',
  }),
  STALL_TIMEOUT_MS: milliseconds(300_000).meta({
    description: 'how long a request or response that has begun may make no progress',
  }),
  IDLE_TIMEOUT_MS: milliseconds(75_000).meta({
    description: 'how long a visitor’s connection may wait for its next request',
  }),
  MAX_AGENTS: count(20_000, 1, 1_000_000).meta({
    description:
      'connections of agents at once. Connections that have not sent anything yet are closed first when more arrive; they may be at most half of all, and a quarter from one address',
  }),
  MAX_SESSIONS_PER_ACCOUNT: count(5000, 1, 1_000_000).meta({ description: 'connected agents of one account' }),
  MAX_TCP_PORTS_PER_ACCOUNT: count(0, 0, PORTS).meta({
    description: 'TCP ports that one account may have; 250 when `TCP_PORTS` is 0',
    defaultText: 'a quarter of `TCP_PORTS`',
  }),
  MAX_VISITORS: count(20_000, 1, 1_000_000).meta({
    description:
      'connections of visitors at once. When one more arrives, the connection that has been idle for the longest time is closed',
  }),
  MAX_VISITORS_PER_ADDRESS: count(0, 0, 1_000_000).meta({
    description:
      'connections that one address (IPv6: one /64) can be sure to keep when `MAX_VISITORS` is reached and all are busy. If it has more, its oldest is closed in favour of other addresses. 0 is a quarter of `MAX_VISITORS`. In the same way, an account whose visitors hold more than half of all connections gives way to other accounts',
  }),
  ...policyVariables,
  PUBLIC_API_URL: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .meta({
      description: 'public URL of the API, the base of `uri` and `next_page_uri`; set it behind a proxy',
      defaultText: 'the request’s own origin',
    }),
  ALLOWED_HOSTS: listValue('localhost,127.0.0.1,[::1]').meta({
    description: '`Host` header values that may be used in generated URLs, and that the admin listener answers',
    defaultText: 'loopback names',
  }),
  TRUSTED_PROXIES: networks.meta({
    description:
      'addresses and networks of the proxies in front of the gateway. Only they may report [the visitor’s address](operating.md#behind-a-reverse-proxy-or-load-balancer), in `X-Forwarded-For` or by the PROXY protocol. The API also trusts their `X-Forwarded-Proto` and `Forwarded`',
  }),
  PROXY_PROTOCOL: proxied.meta({
    description:
      'listeners (`http`, `https`, `tcp`, `agent`, `api`) on which every connection from `TRUSTED_PROXIES` must begin with a PROXY protocol header, version 1 or 2',
  }),
  MAX_API_CONNECTIONS: count(1024, 4, 1_000_000).meta({
    description: 'connections to the API at once. One address may have a quarter of them, unless it is a trusted proxy',
  }),
  CORS_ORIGINS: listValue('').meta({
    description: 'origins of other sites whose pages may call the API from a browser, or `*`',
  }),
  VERSION_HEADER_ALIASES: listValue('').meta({
    description: 'headers accepted in place of `Service-Version`; who sends one gets the extended dialect',
  }),
  BASE_DOMAIN: domainName.default('tunnel.localhost').meta({
    description:
      'agents may bind any name below this domain whose [site](tunnels.md#addresses) no other account uses; better [one that is listed as a public suffix](operating.md#the-public-suffix-list)',
  }),
  CNAME_DOMAIN: domainName.optional().meta({
    description: 'name to which CNAME records of reserved domains must point',
    defaultText: '`cname.` of `BASE_DOMAIN`',
  }),
  ACME_DOMAIN: domainName.optional().meta({
    description: 'name to which ACME challenge records of reserved domains must point',
    defaultText: '`acme.` of `BASE_DOMAIN`',
  }),
  DNS_SERVERS: dnsServers.meta({
    description:
      'name servers for checking the records of reserved domains, separated by commas: `10.0.0.2`, `10.0.0.2:5353`, `[fd00::2]:53`',
    defaultText: 'the system’s',
  }),
  ...certificateVariables,
  REGION: z.string().max(64).default('').meta({ description: 'region that endpoints, tunnels and sessions show' }),
  DATA_DIR: z
    .string()
    .min(1)
    .default('.data')
    .meta({ description: 'directory for all state. A relative path begins at the repository' }),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' })
    .or(z.literal(''))
    .optional()
    .meta({ description: '`postgresql://…` of a PostgreSQL server', defaultText: 'the embedded database' }),
  DATABASE_DIRECT_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' })
    .optional()
    .meta({
      description:
        'the same server without a pooler in between, for LISTEN and migrations, when `DATABASE_URL` leads to a pooler that gives each transaction another connection, as PgBouncer does',
      defaultText: '`DATABASE_URL`',
    }),
  BUS_URL: z
    .url({ protocol: /^(nats|tls|rediss?)$/, error: 'must be a nats://, tls:// (NATS), redis:// or rediss:// URL' })
    .optional()
    .meta({
      description:
        'NATS (`nats://…`, or `tls://…` with TLS) or Redis 6 or newer, or Valkey (`redis://…`, `rediss://…`) that carries changes [between several gateways](operating.md#several-gateways); the same for all of them',
      defaultText: 'LISTEN/NOTIFY of the database server',
    }),
  DATABASE_POOL: count(10, 1, 1000).meta({
    description:
      'connections to the database, in addition to one for the lease of the node and one for changes by other gateways',
  }),
  SERVER_KEY: serverKey.optional().meta({
    description: '32 bytes in base64. The keys for hashing and encryption are derived from it',
    defaultText: 'made in `$DATA_DIR/server.key`',
  }),
  SERVER_KEY_PREVIOUS: serverKey
    .optional()
    .meta({ description: 'the previous key, for [rotation](operating.md#keys)' }),
  INITIAL_API_KEY: secretValue.optional().meta({
    description: 'API key to create at the first start: 16 to 256 printable characters. It is not printed',
    defaultText: 'made and printed',
  }),
  ...figureVariables,
  PERSISTED_DOCUMENTS_DIR: z.string().optional().meta({
    description:
      'directory of [GraphQL documents](clients.md#registered-documents) that requests may name by their SHA-256, also in browser sessions. It is read at the start',
  }),
  RATE_LIMIT: count(6000, 1, 1_000_000_000).meta({ description: 'requests per minute and API key' }),
  STRANGER_RATE_LIMIT: count(300, 1, 1_000_000_000).meta({
    description: 'requests per minute and address (of IPv6: per /64) without a valid API key',
  }),
  NODE_LEASE_MS: count(5000, 200, 600_000).meta({
    description:
      'how long the endpoints and sessions of a silent node count as live. Within a third of this time after that, another node removes them and reports it',
  }),
  ...clusterVariables,
  DRAIN_MS: count(30_000, 0, 600_000).meta({ description: 'how long a stop waits for running requests' }),
  DRAIN_STREAMS_MS: count(3_600_000, 0, 86_400_000).meta({
    description:
      'how long [an upgrade](operating.md#upgrade) lets WebSockets, downloads and TCP connections go on in the processes before',
  }),
  DRAIN_ANNOUNCE_MS: count(0, 0, 600_000).meta({
    description: 'how long `/readyz` is 503 before a stop closes the listeners, so that a load balancer can notice',
  }),
  WATCHDOG_MS: count(10_000, 0, 600_000).meta({
    description:
      'after how long without a sign of life one of [several processes](operating.md#all-cores-of-a-machine) is killed and started again; 0: never',
  }),
  UPGRADE_SETTLE_MS: count(30_000, 0, 3_600_000).meta({
    description:
      'how long the processes of [an upgrade](operating.md#upgrade) serve beside those before. One that ends by itself within that time is taken back',
  }),
  EVENT_ENDPOINTS: endpoints.meta({
    description:
      '[other addresses](events.md#targets) for the requests of event destinations: `kinesis=https://…,sts=…`',
    defaultText: 'the clouds’ own',
  }),
  EVENT_CA_FILE: z
    .string()
    .optional()
    .meta({ description: 'PEM file of certificate authorities for event destinations, in addition to those of Node' }),
  EVENT_WEBHOOK_HOSTS: networksOrHosts.meta({
    description:
      'hosts that `webhook` and `otlp` destinations may call: names, `*.name`, and networks (`10.0.0.0/8`). A listed network permits private addresses in it',
  }),
  EVENT_FILE_DIR: z.string().optional().meta({
    description:
      'existing directory for `file` destinations. Each account writes into a directory that is named after its id. Files of older versions stay beside these directories and are not continued. Without this variable there are no `file` destinations',
  }),
  EVENT_BACKLOG_MB: count(256, 1, 1_000_000).meta({
    description: 'megabytes of events (compressed) that may wait for one destination',
  }),
  EVENT_BUFFER_MB: count(32, 1, 100_000).meta({ description: 'megabytes of traffic events that may be in memory' }),
  EVENT_TRAFFIC_HOURS: count(24, 1, 10_000).meta({ description: 'how long traffic events may wait' }),
  AUDIT_DAYS: count(90, 0, 10_000).meta({ description: 'days for which the [audit trail](audit.md) is kept; 0: none' }),
  EVENT_AUDIT_HOURS: count(72, 1, 10_000).meta({ description: 'how long audit events may wait' }),
  ...alertVariables,
  ...ssoVariables,
  AWS_ACCESS_KEY_ID: z.string().optional().meta({
    description: 'key id of the AWS identity that assumes the [`role`](events.md#aws-roles) of event destinations',
  }),
  AWS_SECRET_ACCESS_KEY: z.string().optional().meta({ description: 'the secret key of that identity' }),
  AWS_SESSION_TOKEN: z.string().optional().meta({ description: 'the session token of that identity, if it has one' }),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .meta({ description: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`; logs go to standard error' }),
  LOG_FORMAT: z
    .enum(['json', 'text'])
    .default('json')
    .meta({ description: '`json`, or `text` for a human-readable format' }),
});

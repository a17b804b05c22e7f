// The environment, read once into one typed object. Nothing else in the gateway reads process.env.

import { isAbsolute, join, resolve } from 'node:path';
import { domainToASCII } from 'node:url';
import type { AcmeSettings } from '../acme/settings.ts';
import type { AlertSettings } from '../alerts/settings.ts';
import type { ApiSettings } from '../api/settings.ts';
import { SOCKET_DIRECTORY_MAX } from '../cluster/local-sockets.ts';
import type { NodeLinkSettings } from '../cluster/settings.ts';
import type { ProxySettings } from '../edge/proxy-protocol/settings.ts';
import type { DialSettings, EdgeSettings } from '../edge/settings.ts';
import type { EventSettings } from '../events/settings.ts';
import type { StoreSettings } from '../store/settings.ts';
import type { TunnelSettings } from '../tunnel/control/tunnel-settings.ts';
import { alertSettings } from './alert-variables.ts';
import { certificateSettings, whyNotObtained } from './certificate-variables.ts';
import { type FigureSettings, figureSettings } from './figure-variables.ts';
import { type InheritedSockets, readInheritedSockets } from './inherited-sockets.ts';
import { missingVariable } from './missing-variable.ts';
import { singleSignOnSettings } from './sso-variables.ts';
import { workersOf } from './usable-cores.ts';
import { environment } from './variables.ts';

const HOUR_MS = 3_600_000;
const MB = 1024 * 1024;

export interface Config
  extends ApiSettings,
    StoreSettings,
    TunnelSettings,
    EdgeSettings,
    DialSettings,
    ProxySettings,
    EventSettings,
    AlertSettings,
    AcmeSettings,
    FigureSettings {
  /** The address every listener binds. */
  host: string;
  apiPort: number;
  adminPort: number;
  agentPort: number;
  httpPort: number;
  httpsPort: number;
  /** Listeners whose sockets were handed in, which are used in place of their ports. */
  inheritedSockets: InheritedSockets;
  /** The gateway's own name server; undefined: there is none. */
  nameServer: { port: number; hosts: string[]; names: string[] } | undefined;
  /** Names and addresses that agents know the gateway by: its certificate for them says so. */
  agentHosts: string[];
  /** How the other nodes of the cluster reach this one; undefined: visitors are not forwarded. */
  nodeLink: NodeLinkSettings | undefined;
  /** The processes that carry visitors and agents; 1: one process does all. */
  workers: number;
  /** How long a stop waits for requests under way. Milliseconds. */
  drainMs: number;
  /** After how long without a heartbeat one of several processes is killed. Milliseconds; 0: never. */
  watchdogMs: number;
  /** How long the processes of an upgrade serve beside those before, which stay if one of them ends by itself. Milliseconds. */
  upgradeSettleMs: number;
  /** How long an upgrade waits for streams of the processes before. Milliseconds. */
  drainStreamsMs: number;
  /** How long a stop says that it is not ready before the listeners close. Milliseconds. */
  drainAnnounceMs: number;
  /** The API key of the first start, when the operator chose it. */
  initialApiKey: string | undefined;
  /** The files with databases of addresses (MMDB). */
  geoDatabase: string[];
  logLevel: string;
  logFormat: 'json' | 'text';
}

/** A mistake in the environment: each line names a variable and what would be right. */
export class ConfigError extends Error {}

/**
 * Reads the configuration. A variable that is set to nothing counts as not set.
 * @param root what a relative `DATA_DIR` is relative to.
 * @param pid the process that sockets were handed to.
 * @throws {ConfigError} naming every variable that is wrong, not only the first.
 */
export function readConfig(env: NodeJS.ProcessEnv, root: string, pid: number = process.pid): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = environment.safeParse(given);
  const missing = missingVariable(given) ?? whyNotObtained(given);
  const inherited = readInheritedSockets(given, pid);
  if (!parsed.success || missing || inherited.mistake) {
    const issues = parsed.error?.issues ?? [];
    const mistakes = issues.map(
      ({ path, message }) => `${String(path[0])} ${message.replace(/^Invalid/, 'is not valid: invalid')}`,
    );
    throw new ConfigError(
      [...mistakes, ...[missing, inherited.mistake].filter((text) => text !== undefined)].join('\n'),
    );
  }
  const e = parsed.data;
  const zones = {
    baseDomain: e.BASE_DOMAIN,
    cnameDomain: e.CNAME_DOMAIN ?? `cname.${e.BASE_DOMAIN}`,
    acmeDomain: e.ACME_DOMAIN ?? `acme.${e.BASE_DOMAIN}`,
  };
  const dataDir = isAbsolute(e.DATA_DIR) ? e.DATA_DIR : resolve(root, e.DATA_DIR);
  const workers = workersOf(e.WORKERS);
  const localDirectory = workers > 1 ? join(dataDir, SOCKET_DIRECTORY) : undefined;
  if (localDirectory && Buffer.byteLength(localDirectory) > SOCKET_DIRECTORY_MAX)
    throw new ConfigError(
      `DATA_DIR must be at most ${SOCKET_DIRECTORY_MAX - SOCKET_DIRECTORY.length - 1} bytes long with WORKERS, as there are unix sockets in it; it is ${dataDir}`,
    );
  const remote = e.NODE_ADDR
    ? { address: e.NODE_ADDR, port: e.NODE_PORT, host: e.NODE_HOST ?? e.NODE_ADDR }
    : undefined;
  const apiHosts = e.PUBLIC_API_URL === undefined ? [] : [new URL(e.PUBLIC_API_URL).hostname];
  const key = (text: string | undefined) => (text ? Buffer.from(text, 'base64') : undefined);
  return {
    host: e.HOST,
    apiPort: e.API_PORT,
    apiTls: e.ACME_API_TLS
      ? 'obtained'
      : e.API_TLS_CERT && e.API_TLS_KEY
        ? { certFile: resolve(root, e.API_TLS_CERT), keyFile: resolve(root, e.API_TLS_KEY) }
        : undefined,
    adminPort: e.ADMIN_PORT,
    agentPort: e.AGENT_PORT,
    httpPort: e.HTTP_PORT,
    httpsPort: e.HTTPS_PORT,
    inheritedSockets: inherited.sockets,
    tcpPorts: e.TCP_PORTS,
    publicHttpPort: e.PUBLIC_HTTP_PORT,
    publicHttpsPort: e.PUBLIC_HTTPS_PORT,
    agentHosts: e.AGENT_HOSTS,
    agentAddresses: e.AGENT_ADDRESSES,
    agentBanner: e.AGENT_BANNER,
    tlsDir: e.TLS_DIR && resolve(root, e.TLS_DIR),
    heartbeatInterval: e.HEARTBEAT_INTERVAL_MS,
    heartbeatTolerance: e.HEARTBEAT_TOLERANCE_MS,
    sessionHold: e.SESSION_HOLD_MS,
    upstreamTimeout: e.UPSTREAM_TIMEOUT_MS,
    upstreamTimeoutMax: e.UPSTREAM_TIMEOUT_MAX_MS,
    headTimeout: e.HEAD_TIMEOUT_MS,
    stallTimeout: e.STALL_TIMEOUT_MS,
    idleTimeout: e.IDLE_TIMEOUT_MS,
    maxAgents: e.MAX_AGENTS,
    maxSessionsPerAccount: e.MAX_SESSIONS_PER_ACCOUNT,
    maxTcpPortsPerAccount: e.MAX_TCP_PORTS_PER_ACCOUNT || quarter(e.TCP_PORTS),
    maxVisitors: e.MAX_VISITORS,
    maxVisitorsPerAddress: e.MAX_VISITORS_PER_ADDRESS,
    policyFetch: e.POLICY_FETCH,
    backendHosts: e.BACKEND_HOSTS,
    backendCaFile: e.BACKEND_CA_FILE && resolve(root, e.BACKEND_CA_FILE),
    geoDatabase: e.GEO_DATABASE.map((file) => resolve(root, file)),
    publicApiUrl: e.PUBLIC_API_URL?.replace(/\/+$/, ''),
    allowedHosts: e.ALLOWED_HOSTS.map((host) => host.toLowerCase()),
    trustedProxies: e.TRUSTED_PROXIES,
    proxyProtocol: e.PROXY_PROTOCOL,
    maxApiConnections: e.MAX_API_CONNECTIONS,
    corsOrigins: e.CORS_ORIGINS,
    versionHeaders: ['service-version', ...e.VERSION_HEADER_ALIASES.map((name) => name.toLowerCase())],
    ...zones,
    sharedDomains: [...namesOf(Object.values(zones))],
    ownNames: namesOf([e.HOST, ...apiHosts, ...e.ALLOWED_HOSTS, ...e.AGENT_HOSTS, ...Object.values(zones)]),
    dnsServers: e.DNS_SERVERS,
    ...certificateSettings(e, root, zones.acmeDomain),
    nameServer: e.DNS_PORT
      ? { port: e.DNS_PORT, hosts: e.DNS_HOST.length > 0 ? e.DNS_HOST : [e.HOST], names: e.DNS_NAME_SERVERS }
      : undefined,
    region: e.REGION,
    dataDir,
    databaseUrl: e.DATABASE_URL || undefined,
    databaseDirectUrl: e.DATABASE_DIRECT_URL,
    busUrl: e.BUS_URL,
    databasePool: e.DATABASE_POOL,
    serverKey: key(e.SERVER_KEY),
    previousServerKey: key(e.SERVER_KEY_PREVIOUS),
    initialApiKey: e.INITIAL_API_KEY,
    eventEndpoints: e.EVENT_ENDPOINTS,
    eventCaFile: e.EVENT_CA_FILE && resolve(root, e.EVENT_CA_FILE),
    eventWebhookHosts: e.EVENT_WEBHOOK_HOSTS,
    persistedDocumentsDir: e.PERSISTED_DOCUMENTS_DIR && resolve(root, e.PERSISTED_DOCUMENTS_DIR),
    eventFileDir: e.EVENT_FILE_DIR && resolve(root, e.EVENT_FILE_DIR),
    eventBacklogBytes: e.EVENT_BACKLOG_MB * MB,
    eventBufferBytes: e.EVENT_BUFFER_MB * MB,
    requestLogBytes: e.REQUEST_LOG_MB * MB,
    trafficMaxAge: e.EVENT_TRAFFIC_HOURS * HOUR_MS,
    auditMaxAge: e.EVENT_AUDIT_HOURS * HOUR_MS,
    ...{ auditDays: e.AUDIT_DAYS, agentKeepDays: e.AGENT_KEEP_DAYS },
    ...alertSettings(e),
    singleSignOn: singleSignOnSettings(e),
    awsIdentity:
      e.AWS_ACCESS_KEY_ID && e.AWS_SECRET_ACCESS_KEY
        ? {
            accessKeyId: e.AWS_ACCESS_KEY_ID,
            secretAccessKey: e.AWS_SECRET_ACCESS_KEY,
            sessionToken: e.AWS_SESSION_TOKEN,
          }
        : undefined,
    ...figureSettings(e),
    rateLimit: e.RATE_LIMIT,
    strangerRateLimit: e.STRANGER_RATE_LIMIT,
    nodeLeaseMs: e.NODE_LEASE_MS,
    nodeLink:
      remote || workers > 1
        ? {
            remote,
            localDirectory,
            heartbeatMs: e.LINK_HEARTBEAT_MS,
            toleranceMs: e.LINK_TOLERANCE_MS,
            limitShareMs: e.LIMIT_SHARE_MS,
            limitsUrl: e.LIMITS_URL,
          }
        : undefined,
    workers,
    drainMs: e.DRAIN_MS,
    watchdogMs: e.WATCHDOG_MS,
    upgradeSettleMs: e.UPGRADE_SETTLE_MS,
    drainStreamsMs: e.DRAIN_STREAMS_MS,
    drainAnnounceMs: e.DRAIN_ANNOUNCE_MS,
    logLevel: e.LOG_LEVEL,
    logFormat: e.LOG_FORMAT,
  };
}

/** The directory below `DATA_DIR` in which the processes of this gateway have their sockets. */
const SOCKET_DIRECTORY = 'run';

/** Hosts as names are compared: in lower case, without a port or a dot at the end, in A-labels (RFC 5890). */
function namesOf(hosts: readonly string[]): ReadonlySet<string> {
  const names = hosts.map((host) => host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, ''));
  return new Set(names.map((name) => domainToASCII(name) || name));
}

/** So much of the ports one account may have where nothing is said; of any free one a number that suits most. */
function quarter({ first, last }: { first: number; last: number }): number {
  return first === 0 ? 250 : Math.ceil((last - first + 1) / 4);
}

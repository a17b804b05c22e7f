// Builds the data plane: where agents connect, where visitors come in, and what lies between.

import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { describeFailure } from '../api/failure.ts';
import { Captures } from '../capture/captures.ts';
import { joinedReporter } from '../capture/joined-reporter.ts';
import { Replays } from '../capture/replay.ts';
import type { Config } from '../config/config.ts';
import { listen, show } from '../edge/addresses.ts';
import type { EdgeConfigSource } from '../edge/edges/edge-config.ts';
import { LiveEdges } from '../edge/edges/live-edges.ts';
import { type FrontsOptions, httpFront, httpsFront } from '../edge/fronts.ts';
import { createHttpListener } from '../edge/http/listener.ts';
import { spokenTo } from '../edge/http2/upstream.ts';
import { ProxiedConnections } from '../edge/proxied/connections.ts';
import { TcpListener } from '../edge/tcp.ts';
import { type Certificates, openCertificates } from '../edge/tls/certificates.ts';
import { TlsListener } from '../edge/tls/listener.ts';
import { NOBODY_HEARS, type TrafficReporter } from '../edge/traffic-reports.ts';
import { tunnelHandling } from '../edge/tunnel-handling.ts';
import { VisitorLimit } from '../edge/visitor-limit.ts';
import { createCounters } from '../edge/visits/counters.ts';
import type { VisitServices } from '../edge/visits/services.ts';
import type { ModuleEnvironment } from '../http/module.ts';
import { dataPlaneMetrics } from '../monitoring/data-plane-metrics.ts';
import type { PolicyCompiler } from '../policy/compile/compile-queue.ts';
import type { Registrar } from '../tunnel/control/registrar.ts';
import { Tokens } from '../tunnel/control/resume-tokens.ts';
import { Endpoints } from '../tunnel/endpoints/endpoint-registry.ts';
import { lookNowAndThen } from '../tunnel/endpoints/traffic-meter.ts';
import { AccountShares } from '../tunnel/session/account-quotas.ts';
import { createAgentListener } from '../tunnel/session/agent-listener.ts';
import { AgentSessions } from '../tunnel/session/agent-sessions.ts';
import { AuthtokenChecks } from '../tunnel/session/authtoken-throttle.ts';
import type { AgentRooms } from '../tunnel/session/session-types.ts';
import { Shutdown } from './shutdown.ts';

/** How often the listeners' own certificate is asked for anew: each is valid for a month at least. */
const RENEW_MS = 24 * 3_600_000;

export interface DataPlaneParts extends Pick<ModuleEnvironment, 'signingKey'> {
  registrar: Registrar;
  /** @param publicHttpsPort what the URLs of edges show. */
  openSiteSource(publicHttpsPort: number): Promise<EdgeConfigSource>;
  newOperationId(): string;
  /** `cap_…` */
  newCaptureId(): string;
  /** What cookies and bind tokens are signed with. */
  tokenKey: Buffer;
  log: Logger;
  registry: Registry;
  /** Where traffic policies are compiled. */
  policies: PolicyCompiler;
  /** Who wants to hear of the traffic; nobody when left out. */
  reporter?: TrafficReporter;
}

export interface DataPlane extends Pick<Certificates, 'caFile' | 'expiries'> {
  /** Listeners by name, as `ready` prints them. */
  addresses: Record<'agent' | 'http' | 'https' | 'tcp', string>;
  sessions: AgentSessions;
  edges: LiveEdges;
  endpoints: Endpoints;
  /** Requests that people look at one by one, and send once more. */
  captures: Captures;
  replays: Replays;
  /** Ends it: what is still under way after `drainMs` is cut. May be called twice. */
  close(drainMs: number): Promise<void>;
}

/** The listeners that are open end first. */
type End = { listeners: { close(drainMs: number): Promise<void> }[]; shutdown: Shutdown; isStopping: boolean };

/** @throws what a listener that cannot be opened fails with; nothing is left running then. */
export async function startDataPlane(config: Config, parts: DataPlaneParts): Promise<DataPlane> {
  const end: End = { listeners: [], shutdown: new Shutdown(parts.log), isStopping: false };
  let closed: Promise<void> | undefined;
  const close = (drainMs: number) => {
    closed ??= (async () => {
      end.isStopping = true;
      // All at once: each has the whole time, and none takes new visitors meanwhile.
      await Promise.all(end.listeners.map((listener) => listener.close(drainMs)));
      await end.shutdown.run();
    })();
    return closed;
  };
  try {
    return { ...(await open(config, parts, end)), close };
  } catch (error) {
    await close(0);
    throw error;
  }
}

async function open(
  config: Config,
  {
    registrar,
    openSiteSource,
    newOperationId,
    newCaptureId,
    tokenKey,
    log,
    registry,
    policies,
    signingKey,
    reporter = NOBODY_HEARS,
  }: DataPlaneParts,
  end: End,
): Promise<Omit<DataPlane, 'close'>> {
  const { host } = config;
  const { listeners, shutdown } = end;
  const certificates = await openCertificates({ ...config, log, uploaded: (name) => edges.certificateFor(name) });
  shutdown.add('close certificates', () => certificates.close());
  // Sessions end after the visitors, whose answers still come through them.
  let endAgents = async () => {};
  shutdown.add('end agent sessions', () => endAgents());
  const now = () => performance.now();
  const endpoints = new Endpoints(now, config.ownNames);
  shutdown.add('end meters', lookNowAndThen(endpoints));
  const captures = new Captures({ newId: newCaptureId, time: Date.now, endpoints, holdMs: config.sessionHold });
  shutdown.add('end captures', () => captures.close());
  const counters = createCounters();
  const hosts = ['localhost', '127.0.0.1', '::1', host, config.baseDomain, ...config.agentHosts];
  const visits: VisitServices = {
    time: Date.now,
    newOperationId,
    refused: (visit) => log.info(visit, 'a visitor was turned away'),
    failed: (error, operationId) => log.error({ err: describeFailure(error), operationId }, 'a module failed'),
    reporter: joinedReporter(reporter, captures),
  };
  const environment: ModuleEnvironment = {
    now,
    time: Date.now,
    isPrivateFetched: config.policyFetch === 'any',
    signingKey,
    note: ({ endpoint, visitor }, metadata) =>
      log.info({ endpointId: endpoint.id, ip: visitor.ip, metadata }, 'a traffic policy notes'),
    internal(accountId, url) {
      const endpoint = endpoints.internal(accountId, url);
      return endpoint && spokenTo(endpoint);
    },
  };

  const proxied = new ProxiedConnections(config, { log });
  listeners.push(proxied);
  const whereIs = registrar.whereIs.bind(registrar);
  const sides: FrontsOptions = { settings: config, endpoints, whereIs, visits, now, counters };
  // Visitors first, so that a tunnel is reachable when its agent is told so.
  const https = httpsFront(sides);
  const traffic = counters.streams;
  let allIsLive = () => {};
  const ready = new Promise<void>((resolve) => {
    allIsLive = resolve;
  });
  const identity = await certificates.agentListener(hosts);
  const limit = new VisitorLimit(config.maxVisitors, config.maxVisitorsPerAddress, undefined, https.proxies);
  const tls = new TlsListener({ front: https, certificates, limit, ready, traffic }, identity);
  listeners.push(tls);
  proxied.guard('https', tls.server);
  const httpsAddress = await listen(tls.server, config.httpsPort, host);
  const publicHttpsPort = config.publicHttpsPort || httpsAddress.port;
  const edges = new LiveEdges({
    source: await openSiteSource(publicHttpsPort),
    endpoints,
    environment,
    publicHttpsPort,
    onFailure: (error) => log.error({ err: describeFailure(error) }, 'the edges cannot be loaded; trying again'),
    onBroken: (id, error) => log.error({ id, err: describeFailure(error) }, 'cannot be served as it is configured'),
    onApplied: () => tls.review(),
  });
  shutdown.add('close edges', () => edges.close());
  await edges.start();
  allIsLive();

  const plain = createHttpListener(httpFront(sides, https, publicHttpsPort), limit);
  listeners.push(plain);
  proxied.guard('http', plain.server);
  const httpAddress = await listen(plain.server, config.httpPort, host);
  const publicHttpPort = config.publicHttpPort || httpAddress.port;
  const taking = proxied.taking.bind(proxied, 'tcp');
  const doors = new TcpListener({ host, endpoints, limit, visits, traffic, taking });
  listeners.push(doors);

  const onFailure = (error: unknown) => log.error({ err: describeFailure(error) }, 'a session met the unexpected');
  const onEvent = (text: string, details: object) => log.info(details, text);
  const sessions = new AgentSessions({ registrar, onFailure, onEvent });
  const rooms: AgentRooms = {
    settings: { ...config, publicHttpPort, publicHttpsPort },
    registrar,
    doors,
    tokens: new Tokens(tokenKey),
    makeHandling: tunnelHandling(environment, policies),
    endpoints,
    sessions,
    checks: new AuthtokenChecks(),
    shares: new AccountShares(config, doors),
    time: Date.now,
    isStopping: () => end.isStopping,
    onFailure,
    onEvent,
  };
  const agents = createAgentListener(await certificates.agentListener(hosts), certificates.operators, rooms);
  proxied.guard('agent', agents.server);
  const renewal = setInterval(() => {
    const renew = (identity: { cert: string; key: string }) => {
      agents.setIdentity(identity);
      tls.setIdentity(identity);
    };
    certificates.agentListener(hosts).then(renew, onFailure);
  }, RENEW_MS).unref();
  const agentAddress = await listen(agents.server, config.agentPort, host);
  endAgents = async () => {
    clearInterval(renewal);
    await agents.close(() => sessions.close());
  };
  dataPlaneMetrics(registry, { counters, limit, sessions, endpoints });

  const { first, last } = config.tcpPorts;
  return {
    addresses: {
      agent: show(agentAddress),
      http: show(httpAddress),
      https: show(httpsAddress),
      tcp: first === last ? String(first) : `${first}-${last}`,
    },
    caFile: certificates.caFile,
    expiries: certificates.expiries,
    sessions,
    edges,
    endpoints,
    captures,
    replays: new Replays({
      captures,
      listeners: { http: httpAddress, https: httpsAddress },
      greeting: proxied.greeting.bind(proxied),
    }),
  };
}

// Starts the data plane: the listeners for agents and visitors, and the forwarding between them.

import { withCaptures } from '../capture/captures.ts';
import { ClusterCaptures } from '../capture/cluster-captures.ts';
import { visitEdge } from '../capture/edge-visit.ts';
import { Replays } from '../capture/replay.ts';
import type { Config } from '../config/config.ts';
import { AcmeChallenges } from '../edge/acme-challenges.ts';
import { listen, show, showPorts } from '../edge/addresses.ts';
import { LiveEdges } from '../edge/edges/live-edges.ts';
import { createHttpListener } from '../edge/http1/listener.ts';
import { createCounters } from '../edge/metrics/counters.ts';
import { moduleDescriptors } from '../edge/modules/index.ts';
import {
  httpListenerContext,
  httpsListenerContext,
  type ListenerContextOptions,
} from '../edge/pipeline/listener-contexts.ts';
import { ProxyProtocolListeners } from '../edge/proxy-protocol/listeners.ts';
import { noopReporter } from '../edge/reports/traffic-reports.ts';
import { TcpListener } from '../edge/tcp/listener.ts';
import { openCertificates } from '../edge/tls/certificates.ts';
import { TlsListener } from '../edge/tls/listener.ts';
import { tunnelModules } from '../edge/tunnel-modules.ts';
import { ConnectionLimit } from '../edge/visitors/connection-limit.ts';
import { clusterMetrics } from '../monitoring/cluster-metrics.ts';
import { dataPlaneMetrics } from '../monitoring/data-plane-metrics.ts';
import { ClusterRequestLog } from '../request-log/cluster-request-log.ts';
import { describeFailure } from '../runtime/describe-failure.ts';
import { type EndpointLookup, localLookup } from '../tunnel/endpoints/endpoint-lookup.ts';
import { EndpointRegistry } from '../tunnel/endpoints/endpoint-registry.ts';
import { startRateSampling } from '../tunnel/endpoints/traffic-meter.ts';
import { startAgentPlane } from './agent-plane.ts';
import { startCaptures } from './captures.ts';
import { startCertificateRenewal } from './certificates/certificate-renewal.ts';
import { startClusterPlane } from './cluster-plane.ts';
import type { DataPlane, DataPlaneParts } from './data-plane-types.ts';
import { followPorts } from './follow-ports.ts';
import { findServing, moduleEnvironment, visitServices } from './forwarding-services.ts';
import { type Lifecycle, startAll } from './lifecycle.ts';
import { startInternalCalls } from './policies/internal-calls.ts';
import { startRestrictions } from './policies/live-restrictions.ts';
import { startSecrets } from './policies/live-secrets.ts';
import { startSessionCache } from './policies/session-cache.ts';
import { startDialer } from './static-backends.ts';
import { startRecorder, startRequestLog } from './visit-records.ts';
import { AcceptBalance } from './workers/accept-balance.ts';
import { startAgentSpread } from './workers/agent-spread.ts';
import { openOwnListeners } from './workers/own-listeners.ts';

/** How long visitors of a process that is replaced may send a last request on an idle connection, in milliseconds: new ones go to the next. */
const REPLACED_GRACE_MS = 3000;

/** Starts the data plane. @throws {Error} the error of a listener that cannot be opened; nothing is left running then. */
export async function startDataPlane(config: Config, options: DataPlaneParts): Promise<DataPlane> {
  return startAll(options.log, async (parts) => ({
    ...(await startParts(parts, config, options)),
    close: (drainMs) => parts.stop(drainMs),
  }));
}

async function startParts(
  parts: Lifecycle,
  config: Config,
  {
    registrar,
    openEdgeConfigSource,
    captureSource,
    secretSource,
    restrictionSource,
    newOperationId,
    newCaptureId,
    tokenKey,
    log,
    registry,
    policies,
    signingKey,
    sendOutbound,
    locate,
    visitorSessions: sessionSource,
    member,
    sharesListeners = false,
    counts,
    isReplaced,
    statistics,
    reporter = noopReporter,
  }: DataPlaneParts,
): Promise<Omit<DataPlane, 'close'>> {
  const { host, inheritedSockets: inherited } = config;
  const graceMs = () => (isReplaced?.() ? REPLACED_GRACE_MS : 0);
  const certificates = await parts.start({
    name: 'certificates',
    start: () =>
      openCertificates({
        ...config,
        log,
        uploaded: (name) => edges.certificateFor(name),
        own: (name) => edges.ownCertificateFor(name),
        ticketSecret: tokenKey,
        time: statistics.now,
      }),
    stop: (certificates) => certificates.close(),
  });
  const now = () => performance.now();
  const endpoints = new EndpointRegistry(now, config.ownNames);
  const { captures, follower } = await startCaptures(parts, {
    ...{ newId: newCaptureId, time: statistics.now, endpoints, holdMs: config.sessionHold },
    ...{ reachesNodes: config.nodeLink !== undefined && member !== undefined, source: captureSource, log },
  });
  const counters = createCounters();
  const hosts = ['localhost', '127.0.0.1', '::1', host, config.baseDomain, ...config.agentHosts];
  const recorder = await startRecorder(parts, config, { statistics, log, registry });
  const requestLog = await startRequestLog(parts, config.requestLogBytes, now);
  const reports = { reporter: withCaptures(reporter, captures), recorder, requestLog };
  const restrictions = await startRestrictions(parts, restrictionSource, log);
  const visits = visitServices({ log, newOperationId, restrictions, ...reports });
  const onFailure = (error: unknown) => log.error({ err: describeFailure(error) }, 'unexpected error in a session');
  const secrets = await startSecrets(parts, secretSource, log);
  const visitorSessions = await startSessionCache(parts, sessionSource, { time: statistics.now, log });
  const callInternal = await startInternalCalls(parts, { settings: config, services: visits, now });
  const environment = moduleEnvironment(config, {
    ...{ endpoints, signingKey, sendOutbound, callInternal, locate, visitorSessions, log, now, secrets },
    lookup: () => lookup,
    shared: () => cluster?.shared,
  });
  const modules = tunnelModules(environment, policies, moduleDescriptors);
  const cluster =
    config.nodeLink && member
      ? await startClusterPlane(parts, config.nodeLink, { member, endpoints, routes: registrar, modules, log, now })
      : undefined;
  const meters = [endpoints, ...(cluster ? [cluster.lookup.tunnels.meters] : [])];
  await parts.start({ name: 'rate sampling', start: () => startRateSampling(meters), stop: (stop) => stop() });
  const lookup: EndpointLookup = cluster?.lookup ?? localLookup(endpoints, registrar);
  // All listeners drain at the same time, before any part stops: each has the whole time, and none takes new visitors
  // meanwhile.
  const proxied = await parts.start({
    name: 'PROXY protocol',
    start: () => new ProxyProtocolListeners(config, { log }),
    drain: (proxied) => proxied.close(),
  });
  const balance = counts
    ? await parts.start({
        name: 'balance of connections',
        start: () => new AcceptBalance(counts),
        drain: (balance) => balance.close(),
      })
    : undefined;
  const challenges = new AcmeChallenges({
    find: (request) => source.findChallenge(request),
    holderOf: (name) => source.challengeHolder(name),
  });
  const sides: ListenerContextOptions = { settings: config, lookup, services: visits, now, counters, challenges };
  // The listeners for visitors open first, so that a tunnel is reachable when its agent gets the response.
  const https = httpsListenerContext(sides);
  let allIsLive = () => {};
  const ready = new Promise<void>((resolve) => {
    allIsLive = resolve;
  });
  const identity = await certificates.agentListener(hosts);
  const limit = new ConnectionLimit(config.maxVisitors, config.maxVisitorsPerAddress, undefined, https.proxies);
  const tls = await parts.start({
    name: 'HTTPS listener',
    start: () => new TlsListener({ listener: https, certificates, limit, ready, traffic: counters.streams }, identity),
    drain: (listener, drainMs) => listener.close(drainMs, graceMs()),
  });
  proxied.guard('https', tls.server);
  const httpsAddress = await listen(tls.server, config.httpsPort, host, inherited.https);
  balance?.add('https', tls.server);
  const publicHttpsPort = config.publicHttpsPort || httpsAddress.port;
  const plain = await parts.start({
    name: 'HTTP listener',
    start: () => createHttpListener(httpListenerContext(sides, https, publicHttpsPort), limit, ready),
    drain: (listener, drainMs) => listener.close(drainMs, graceMs()),
  });
  proxied.guard('http', plain.server);
  const httpAddress = await listen(plain.server, config.httpPort, host, inherited.http);
  balance?.add('http', plain.server);
  const publicPorts = { publicHttpPort: config.publicHttpPort || httpAddress.port, publicHttpsPort };
  const dialer = await startDialer(parts, config);
  const source = await openEdgeConfigSource(publicPorts);
  const edges = await parts.start({
    name: 'edges',
    start: () =>
      new LiveEdges({
        ...{ source, endpoints, lookup, dialer, environment, random: Math.random },
        descriptors: moduleDescriptors,
        publicPorts,
        onFailure: (error) => log.error({ err: describeFailure(error) }, 'the edges cannot be loaded; trying again'),
        onBroken: (id, error) => log.error({ id, err: describeFailure(error) }, 'cannot be served as it is configured'),
      }),
    stop: (edges) => edges.close(),
  });
  edges.onApplied(() => tls.review());
  await edges.start();
  allIsLive();
  const tcp = await parts.start({
    name: 'TCP listeners',
    start: () =>
      new TcpListener({
        host,
        endpoints,
        lookup,
        limit,
        services: visits,
        traffic: counters.streams,
        taking: proxied.accepting.bind(proxied, 'tcp'),
        onListening: (server) => balance?.add('tcp', server),
      }),
    drain: (listener, drainMs) => listener.close(drainMs),
  });
  await followPorts(parts, { ports: tcp, routes: cluster && registrar, edges, log, onFailure });

  await cluster?.open();
  const { agents, sessions, moves } = await startAgentPlane(parts, config, {
    settings: { ...config, ...publicPorts },
    ...{ registrar, endpoints, modules, tcpPorts: tcp, tokenKey, certificates, hosts, log, onFailure },
    ...{ cluster, restrictions, edges },
    movesAgents: () => isReplaced?.() ?? true,
  });
  proxied.guard('agent', agents.server);
  const agentAddress = await listen(agents.server, config.agentPort, host, inherited.agent);
  balance?.add('agent', agents.server);
  if (counts && balance && moves)
    await parts.start({
      name: 'spread of agents',
      start: () => startAgentSpread({ counts, balance, moves, log }),
      drain: (stop) => stop(),
    });
  const issue = () => certificates.agentListener(hosts);
  await startCertificateRenewal(parts, { name: 'the listeners', issue, listeners: [agents, tls], onFailure });
  dataPlaneMetrics(registry, {
    counters,
    limit,
    handshakes: tls.handshakeCounts,
    certificates,
    sessions,
    endpoints,
    dialer,
  });
  clusterMetrics(registry, cluster, registrar.lookups);

  const ownListeners = sharesListeners
    ? await openOwnListeners(parts, { http: plain.server, https: tls.server })
    : { http: httpAddress, https: httpsAddress };
  const localHeader = proxied.localHeader.bind(proxied);
  const visitable = { listeners: ownListeners, proxyHeader: localHeader };
  return {
    addresses: {
      agent: show(agentAddress),
      http: show(httpAddress),
      https: show(httpsAddress),
      tcp: showPorts(config.tcpPorts),
    },
    caFile: certificates.caFile,
    expiries: certificates.expiries,
    developmentCertificate: certificates.developmentCertificate,
    operators: certificates.operators,
    ...{ sessions, moves, edges, endpoints, cluster, captures, ownListeners, localHeader },
    clusterCaptures: new ClusterCaptures(captures, cluster, follower),
    requestLog: new ClusterRequestLog(requestLog, cluster),
    replays: new Replays({
      captures,
      findServing: (captured) => findServing(lookup, captured),
      ...visitable,
    }),
    visitEdge: (visit) => visitEdge(visitable, visit),
  };
}

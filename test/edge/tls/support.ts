// The listener for HTTPS and TLS with an agent behind it: a real session, real tunnels, real upstreams.

import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { createHttpCounters } from '../../../src/edge/metrics/counters.ts';
import type { HttpListenerContext } from '../../../src/edge/pipeline/listener-context.ts';
import type { PipelineServices } from '../../../src/edge/pipeline/services.ts';
import { noopReporter } from '../../../src/edge/reports/traffic-reports.ts';
import type { EdgeSettings } from '../../../src/edge/settings.ts';
import { openCertificates } from '../../../src/edge/tls/certificates.ts';
import { TlsListener } from '../../../src/edge/tls/listener.ts';
import { ConnectionLimit } from '../../../src/edge/visitors/connection-limit.ts';
import type { NameStatus } from '../../../src/tunnel/endpoints/endpoint-lookup.ts';
import { EndpointRegistry } from '../../../src/tunnel/endpoints/endpoint-registry.ts';
import type { LiveTunnel } from '../../../src/tunnel/endpoints/live-tunnel.ts';
import { loopClock } from '../../support/load/loop-clock.ts';
import { listen } from '../sockets.ts';
import { startAgent, type TunnelOptions } from './agent.ts';

/** Long enough for tests that don't wait for them. */
const SETTINGS: EdgeSettings = {
  upstreamTimeout: 10_000,
  upstreamTimeoutMax: 3_600_000,
  headTimeout: 10_000,
  stallTimeout: 10_000,
  idleTimeout: 10_000,
  maxVisitors: 1000,
  maxVisitorsPerAddress: 0,
  requestLogBytes: 0,
  sharedDomains: ['tunnel.localhost'],
  tlsDir: undefined,
  policyFetch: 'public',
};

/** Nothing is refused by modules here, and nothing fails. */
export const noVisits: PipelineServices = {
  time: () => Date.now(),
  newOperationId: () => 'op_0',
  logRefusal({ reason }) {
    throw new Error(reason);
  },
  logFailure(error) {
    throw error;
  },
  reporter: noopReporter,
};

export interface EdgeOptions {
  settings?: Partial<EdgeSettings>;
  /** What is known of names that nothing serves. */
  whereabouts?: Record<string, NameStatus>;
  baseDomain?: string;
  visits?: PipelineServices;
  /** Bytes that may wait for visitors. */
  heldMax?: number;
  /** A clock that never goes back, in milliseconds. */
  now?: () => number;
  /** Of the processes that resume sessions of TLS of each other, and the wall clock that their keys follow. */
  ticketSecret?: Buffer;
  time?: () => number;
}

export type Edge = Awaited<ReturnType<typeof startEdge>>;

export async function startEdge(options: EdgeOptions = {}) {
  const { settings, whereabouts = {}, baseDomain = 'tunnel.localhost', visits = noVisits, heldMax } = options;
  const { now = loopClock(), ticketSecret, time } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'edge-'));
  const allSettings = { ...SETTINGS, ...settings };
  const log = { info() {}, warn() {} } as never;
  const tickets = { ...(ticketSecret && { ticketSecret }), ...(time && { time }) };
  const certificates = await openCertificates({ dataDir, tlsDir: undefined, baseDomain, log, ...tickets });
  const agent = await startAgent();
  const endpoints = new EndpointRegistry();
  const context: HttpListenerContext = {
    scheme: 'https',
    find: (hostname) => endpoints.byName('tls', hostname),
    resolve: async (hostname) => whereabouts[hostname] ?? 'unknown',
    settings: allSettings,
    now,
    services: visits,
    counters: createHttpCounters(),
  };
  const limit = new ConnectionLimit(allSettings.maxVisitors, allSettings.maxVisitorsPerAddress, heldMax);
  const listener = new TlsListener(
    { listener: context, certificates, limit },
    await certificates.agentListener(['127.0.0.1']),
  );
  const port = await listen(listener.server);
  const ca = await readFile(certificates.caFile, 'utf8');
  return {
    port,
    ca,
    context,
    counters: context.counters,
    endpoints,
    listener,
    limit,
    certificates,
    agent,
    /** Makes an upstream on this machine available under a name. */
    serve(hostname: string, upstream: number, options: TunnelOptions = {}): LiveTunnel {
      const tunnel = agent.tunnel(hostname, upstream, { proto: 'https', ...options });
      endpoints.add(tunnel);
      return tunnel;
    },
    /** A visitor with TLS, connected; rejects when the handshake fails. */
    async visit(servername: string | undefined, options: ConnectionOptions = {}): Promise<TLSSocket> {
      const socket = connectTls({ host: '127.0.0.1', port, ca, servername, ...options });
      socket.on('error', () => {});
      await once(socket, 'secureConnect');
      return socket;
    },
    /** A visitor with HTTP/2. @param raw the connection to use, where there is one already. */
    async visitHttp2(servername: string, raw?: Socket): Promise<ClientHttp2Session> {
      const to = { host: '127.0.0.1', port, ca, servername, ALPNProtocols: ['h2'], socket: raw };
      const socket = connectTls(to);
      const session = connectHttp2(`https://${servername}:${port}`, { createConnection: () => socket });
      session.on('error', () => {});
      sockets.set(session, socket);
      await once(session, 'connect');
      return session;
    },
    /** Resolves when so few connections are left, and no streams to the agent. */
    async empty(left = 0): Promise<void> {
      while (listener.size > left || agent.session.size > left) await new Promise((resolve) => setTimeout(resolve, 1));
    },
    async close(drainMs = 0): Promise<void> {
      await listener.close(drainMs);
      certificates.close();
      agent.session.destroy(0, 'the end');
      await rm(dataDir, { recursive: true });
    },
  };
}

const sockets = new WeakMap<ClientHttp2Session, TLSSocket>();

/**
 * Ends a visitor's connection at once. To destroy the session, when one of its streams was closed a moment ago, makes Node
 * 20 loop for ever and take all memory.
 */
export function cut(session: ClientHttp2Session): void {
  sockets.get(session)?.destroy();
}

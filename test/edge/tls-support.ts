// The listener for HTTPS and TLS with an agent behind it: a real session, real tunnels, real upstreams.

import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { createHttpCounters } from '../../src/edge/metrics/counters.ts';
import type { HttpListenerContext, NameStatus } from '../../src/edge/pipeline/listener-context.ts';
import type { PipelineServices } from '../../src/edge/pipeline/services.ts';
import { noopReporter } from '../../src/edge/reports/traffic-reports.ts';
import type { EdgeSettings } from '../../src/edge/settings.ts';
import { openCertificates } from '../../src/edge/tls/certificates.ts';
import { TlsListener } from '../../src/edge/tls/listener.ts';
import { ConnectionLimit } from '../../src/edge/visitors/connection-limit.ts';
import {
  type MuxSession,
  type MuxStream,
  noopStreamEvents,
  OWN_CLIENT_TYPE,
  type ProxyHeader,
  readProxyHeader,
  readStreamType,
  StreamType,
} from '../../src/protocol/index.ts';
import { relay } from '../../src/protocol/relay.ts';
import { agentKindOf } from '../../src/tunnel/control/compatibility.ts';
import type { LiveEndpoint } from '../../src/tunnel/endpoints/endpoint.ts';
import { EndpointRegistry } from '../../src/tunnel/endpoints/endpoint-registry.ts';
import { LiveTunnel } from '../../src/tunnel/endpoints/live-tunnel.ts';
import { StreamSlots } from '../../src/tunnel/endpoints/stream-slots.ts';
import { pair } from '../protocol/pair.ts';
import { loopClock } from '../support/loop-clock.ts';

/** Long enough for tests that don't wait for them. */
const SETTINGS: EdgeSettings = {
  upstreamTimeout: 10_000,
  headTimeout: 10_000,
  stallTimeout: 10_000,
  idleTimeout: 10_000,
  maxVisitors: 1000,
  maxVisitorsPerAddress: 0,
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
}

export type TunnelOptions = Partial<
  Pick<LiveEndpoint, 'proto' | 'tls' | 'upstreamProtocol' | 'proxyProtocol' | 'port'>
>;

export type Edge = Awaited<ReturnType<typeof startEdge>>;

export async function startEdge(options: EdgeOptions = {}) {
  const { settings, whereabouts = {}, baseDomain = 'tunnel.localhost', visits = noVisits, heldMax } = options;
  const { now = loopClock() } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'edge-'));
  const allSettings = { ...SETTINGS, ...settings };
  const log = { info() {}, warn() {} } as never;
  const certificates = await openCertificates({ dataDir, tlsDir: undefined, baseDomain, log });
  const agent = await startAgent();
  const endpoints = new EndpointRegistry();
  const front: HttpListenerContext = {
    scheme: 'https',
    find: (hostname) => endpoints.byName('tls', hostname),
    statusOf: async (hostname) => whereabouts[hostname] ?? 'unknown',
    settings: allSettings,
    now,
    services: visits,
    counters: createHttpCounters(),
  };
  const limit = new ConnectionLimit(allSettings.maxVisitors, allSettings.maxVisitorsPerAddress, heldMax);
  const listener = new TlsListener({ front, certificates, limit }, await certificates.agentListener(['127.0.0.1']));
  const port = await listen(listener.server);
  const ca = await readFile(certificates.caFile, 'utf8');
  return {
    port,
    ca,
    front,
    counters: front.counters,
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

export interface Agent {
  /** The gateway's end of the session. */
  session: MuxSession;
  /** Headers of the streams that were opened to the agent, in order. */
  headers: ProxyHeader[];
  /** Connections to upstreams, as they were opened. */
  sockets: Socket[];
  tunnel(hostname: string, upstream: number, options?: TunnelOptions): LiveTunnel;
}

/** An agent's session, with everything that an agent needs to serve visitors. */
export async function startAgent(): Promise<Agent> {
  const { client, server } = await pair();
  const slots = new StreamSlots(agentKindOf({ clientType: OWN_CLIENT_TYPE, userAgent: '' }));
  const upstreams = new Map<string, number>();
  const headers: ProxyHeader[] = [];
  const sockets: Socket[] = [];
  client.accept((stream) => {
    readStreamType(stream, (type, rest) => {
      if (type !== StreamType.PROXY) return stream.reset();
      readHeader(stream, rest, (header, first) => {
        headers.push(header);
        const port = upstreams.get(header.tunnelId) ?? 0;
        const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
        sockets.push(socket);
        if (first.length > 0) socket.write(first);
        stream.consumed(first.length);
        relay(stream, socket);
      });
    });
    return stream.events;
  });
  let ids = 0;
  return {
    session: server.session,
    headers,
    sockets,
    tunnel(hostname, upstream, options = {}) {
      const tunnelId = `tn_${++ids}`;
      upstreams.set(tunnelId, upstream);
      return new LiveTunnel(
        {
          id: `ep_${ids}`,
          tunnelId,
          accountId: 'ac_1',
          proto: 'https',
          hostname,
          port: 443,
          publicUrl: `https://${hostname}`,
          proxyProtocol: 0,
          upstreamProtocol: 'http1',
          tls: 'gateway',
          ...options,
        },
        server.session,
        slots,
      );
    },
  };
}

function readHeader(stream: MuxStream, first: Buffer, onHeader: (header: ProxyHeader, rest: Buffer) => void): void {
  let bytes = first;
  const tryRead = () => {
    const found = readProxyHeader(bytes);
    if (!found) return;
    stream.events = noopStreamEvents;
    stream.consumed(bytes.length - found.rest.length);
    onHeader(found.header, found.rest);
  };
  stream.events = {
    ...noopStreamEvents,
    onData(chunk) {
      bytes = Buffer.concat([bytes, chunk]);
      tryRead();
    },
  };
  tryRead();
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Everything that a socket brings until its end; the other direction is not touched. @throws when it breaks. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'end');
  return Buffer.concat(chunks);
}

/** Resolves when a socket is closed, however that came about. */
export function closed(socket: Socket): Promise<void> {
  socket.on('error', () => {});
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())));
}

/** Sockets of this process that the event loop knows. @param but those that were there before. */
export function openSockets(but: readonly unknown[] = []): unknown[] {
  // For debugging, so not documented. What is documented counts them, and those of tests before may go meanwhile.
  const { _getActiveHandles } = process as unknown as { _getActiveHandles(): object[] };
  const handles = _getActiveHandles.call(process);
  return handles.filter((one) => (one instanceof Socket || one.constructor.name === 'TCP') && !but.includes(one));
}

/** What Node sends first to a server of this name. */
export async function clientHello(servername: string): Promise<Buffer> {
  const server = createServer();
  const port = await listen(server);
  const client = connectTls({ port, host: '127.0.0.1', servername });
  client.on('error', () => {});
  const [socket] = await once(server, 'connection');
  const [bytes] = await once(socket, 'data');
  client.destroy();
  server.close();
  return bytes as Buffer;
}

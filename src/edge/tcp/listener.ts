// TCP endpoints: a port each, and whatever comes through it.

import cluster from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { ModuleDecisions } from '../../http/exchange.ts';
import { freePort } from '../../net/free-port.ts';
import { reportDefect } from '../../protocol/defect.ts';
import { noopStreamEvents } from '../../protocol/mux/mux-stream.ts';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import { abortSocket, type ByteCounters, relay } from '../../protocol/relay.ts';
import type { TcpPorts } from '../../tunnel/control/tcp-ports.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import type { EndpointLookup } from '../../tunnel/endpoints/endpoint-lookup.ts';
import type { EndpointRegistry } from '../../tunnel/endpoints/endpoint-registry.ts';
import type { StreamCounters } from '../metrics/counters.ts';
import { combinedTraffic, countConnection } from '../metrics/request-counter.ts';
import { admitConnection, passesRestriction } from '../pipeline/connection-admission.ts';
import { type EndpointRules, endpointRulesOf } from '../pipeline/rules/endpoint-rules.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { recordConnection } from '../reports/connection-recording.ts';
import { SocketInfo } from '../visitors/connection-info.ts';
import type { ConnectionLimit } from '../visitors/connection-limit.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { UNKNOWN_VISITOR, VisitorConnections, visitorOf } from '../visitors/connections.ts';

/** After so much silence the kernel asks whether a visitor is still there; milliseconds. */
const KEEP_ALIVE_MS = 60_000;

export interface TcpPort {
  readonly port: number;
  /** Ends listening at once; connections go on. */
  close(): void;
}

/**
 * Listens at a port; 0 is any free one. Connections are handed over with both halves in use, and unread.
 * @returns undefined when something else on this machine has the port. @throws what else `listen` fails with.
 */
export async function openTcpPort(
  port: number,
  host: string,
  onSocket: (socket: Socket) => void,
  onListening: (server: Server) => void = () => {},
): Promise<TcpPort | undefined> {
  const server = createServer(
    { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
    onSocket,
  );
  // The processes of a cluster share what listens at port 0; endpoints do not share ports.
  server.listen(port === 0 && cluster.isWorker ? await freePort(host) : port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
  server.on('error', () => {}); // One connection could not be accepted, for want of descriptors; the next may be.
  onListening(server);
  return { port: (server.address() as AddressInfo).port, close: () => void server.close() };
}

/**
 * Joins a visitor to an endpoint, byte for byte. Where there is no way to it, the visitor sees a RST, as of a port where
 * nobody listens.
 * @param first what was read of the socket before, in order to choose the endpoint.
 */
export async function forward(
  socket: Socket,
  endpoint: LiveEndpoint | undefined,
  { passthrough = false, first, traffic }: { passthrough?: boolean; first?: Buffer; traffic?: ByteCounters } = {},
): Promise<void> {
  const visitor = visitorOf(socket, passthrough);
  if (!endpoint || !visitor) return abortSocket(socket);
  const gone = () => {};
  socket.on('error', gone); // Told again by `destroyed`, below.
  const stream = await endpoint.open(visitor, noopStreamEvents).catch(() => 'offline' as const);
  socket.off('error', gone);
  if (typeof stream === 'string') return abortSocket(socket);
  if (socket.destroyed) return stream.reset(ErrorCode.CANCELLED);
  if (first && first.length > 0) stream.write(first);
  if (first && traffic) traffic.fromSocket += first.length;
  relay(stream, socket, { counters: traffic });
}

interface PortListener {
  opened: Promise<TcpPort | undefined>;
  /** Tunnels that have it. */
  users: number;
  /** Until when it is kept without any. */
  kept: NodeJS.Timeout | undefined;
}

export interface TcpListenerOptions {
  host: string;
  endpoints: Pick<EndpointRegistry, 'byAddress' | 'sharedAt'>;
  /** Finds the endpoints of other nodes; left out, there are none. */
  lookup?: Pick<EndpointLookup, 'reachesNodes' | 'resolveAddress'>;
  limit: ConnectionLimit;
  services: PipelineServices;
  traffic?: StreamCounters;
  /** What new connections pass first. */
  taking?(take: (socket: Socket) => void): (socket: Socket) => void;
  /** Called with each server that listens at a port. */
  onListening?(server: Server): void;
}

/** The ports of TCP endpoints, and the visitors at them. */
export class TcpListener implements TcpPorts {
  readonly visitors: VisitorConnections;
  readonly #options: TcpListenerOptions;
  readonly #ports = new Map<number, PortListener>();
  #isClosed = false;

  constructor(options: TcpListenerOptions) {
    this.#options = options;
    this.visitors = new VisitorConnections(options.limit);
  }

  async open(port: number): Promise<number | undefined> {
    if (this.#isClosed) return undefined;
    const known = this.#ports.get(port);
    if (known) {
      known.users++;
      clearTimeout(known.kept);
      known.kept = undefined;
      return (await known.opened)?.port;
    }
    let bound = port;
    const take = (socket: Socket) => this.#onSocket(socket, bound);
    const { host, taking, onListening } = this.#options;
    const opened = openTcpPort(port, host, taking?.(take) ?? take, onListening);
    const listener: PortListener = { opened, users: 1, kept: undefined };
    if (port !== 0) this.#ports.set(port, listener);
    const listening = await opened.catch((error: Error) => {
      this.#ports.delete(port);
      throw error;
    });
    if (this.#isClosed) listening?.close();
    if (!listening || this.#isClosed) {
      this.#ports.delete(port);
      return undefined;
    }
    bound = listening.port;
    this.#ports.set(bound, listener);
    return bound;
  }

  release(port: number, keepMs: number): void {
    const listener = this.#ports.get(port);
    if (!listener || --listener.users > 0) return;
    if (keepMs <= 0) return void this.#shut(port, listener);
    listener.kept = setTimeout(() => this.#shut(port, listener), keepMs).unref();
  }

  /** Ends listening at all ports; visitors that are still there after `drainMs` are cut. */
  async close(drainMs: number): Promise<void> {
    this.#isClosed = true;
    for (const [port, listener] of [...this.#ports]) this.#shut(port, listener);
    await this.visitors.end(drainMs);
  }

  #shut(port: number, listener: PortListener): void {
    clearTimeout(listener.kept);
    this.#ports.delete(port);
    void listener.opened.then((listening) => listening?.close());
  }

  #onSocket(socket: Socket, port: number): void {
    socket.on('error', () => {}); // `close` follows.
    const slot = this.visitors.admit(socket);
    if (!slot) return void abortSocket(socket);
    const { endpoints, lookup } = this.#options;
    const address = `tcp:${port}` as const;
    const isShared = lookup?.reachesNodes && endpoints.sharedAt(address) > 0;
    const own = isShared ? undefined : endpoints.byAddress(address);
    if (own || !lookup?.reachesNodes) return void this.#serve(socket, slot, own);
    void lookup.resolveAddress(address).then((found) => socket.destroyed || this.#serve(socket, slot, found));
  }

  #serve(socket: Socket, slot: ConnectionSlot, endpoint: LiveEndpoint | undefined): void {
    const { services } = this.#options;
    if (endpoint && !slot.use(endpoint.accountId)) return void abortSocket(socket);
    if (endpoint) countConnection(endpoint, socket, services.recorder, this.#options.traffic?.tcp);
    const recording = endpoint && recordConnection(services, endpoint, socket);
    if (endpoint && !passesRestriction(socket, endpoint, recording?.decisions, services))
      return void abortSocket(socket);
    const rules = endpoint && endpointRulesOf(endpoint);
    const over = rules
      ? this.#admit(socket, endpoint, rules, recording?.decisions)
      : forward(socket, endpoint, { traffic: combinedTraffic(endpoint?.meter, this.#options.traffic) });
    over.catch((error) => {
      reportDefect(error);
      abortSocket(socket);
    });
  }

  async #admit(
    socket: Socket,
    endpoint: LiveEndpoint,
    rules: EndpointRules,
    decisions: ModuleDecisions | undefined,
  ): Promise<void> {
    const { services } = this.#options;
    const traffic = combinedTraffic(endpoint.meter, this.#options.traffic);
    const connection = new SocketInfo(socket, visitorOf(socket, false) ?? UNKNOWN_VISITOR, services.time());
    const admitted = await admitConnection(Object.assign(connection, { endpoint, decisions }), rules, services);
    if (admitted && !socket.destroyed) await forward(socket, admitted, { traffic });
    else abortSocket(socket);
  }
}

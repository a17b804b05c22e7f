// Questions over TCP: for those whose answer is too long for UDP, and whose network is over its rate limit there.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { describeFailure } from '../runtime/describe-failure.ts';
import type { Schedule } from '../runtime/schedule.ts';
import { waitAtMost } from '../runtime/wait-at-most.ts';
import { clientNetwork } from './client-network.ts';
import type { DnsCounters } from './counters.ts';
import { TcpConnection } from './tcp-connection.ts';
import type { Respond } from './udp-server.ts';

export interface TcpLimits {
  /** Connections at once. */
  connections: number;
  /** Of one network (/24 or /56). */
  connectionsPerNetwork: number;
}

export interface TcpServerOptions {
  respond: Respond;
  limits: TcpLimits;
  counters: DnsCounters;
  schedule: Schedule;
  log: Logger;
}

export class TcpServer {
  readonly #options: TcpServerOptions;
  readonly #server: Server;
  /** With their networks; the one whose last question is longest ago is the first. */
  readonly #connections = new Map<TcpConnection, string>();

  private constructor(options: TcpServerOptions, server: Server) {
    this.#options = options;
    this.#server = server.on('connection', (socket) => this.#accept(socket));
    // Connections that cannot be accepted (no descriptors left) are those of now, not of later.
    server.on('error', (error) =>
      options.log.warn({ err: describeFailure(error) }, 'The DNS socket (TCP) had an error'),
    );
  }

  /** @param port 0 is any. @throws when it cannot be opened. */
  static async open(port: number, host: string, options: TcpServerOptions): Promise<TcpServer> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.listen({ port, host, exclusive: true });
    await once(server, 'listening');
    return new TcpServer(options, server);
  }

  get address(): AddressInfo {
    return this.#server.address() as AddressInfo;
  }

  /** How many connections there are. */
  get size(): number {
    return this.#connections.size;
  }

  /** Accepts no more, and ends connections as soon as all that came is answered; those that are left after the time at once. */
  async close(drainMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections.keys()) connection.finish();
    await waitAtMost(drainMs, closed);
    for (const connection of this.#connections.keys()) connection.destroy();
    await closed;
  }

  #accept(socket: Socket): void {
    const { limits, counters, respond, schedule } = this.#options;
    const network = clientNetwork(socket.remoteAddress ?? '');
    if (!this.#makeRoom(network, limits.connectionsPerNetwork) || !this.#makeRoom(undefined, limits.connections)) {
      counters.refused++;
      return void socket.on('error', () => {}).destroy();
    }
    const connection = new TcpConnection(socket, {
      respond: (query, maxBytes) => respond(query, 'tcp', maxBytes),
      schedule,
      onQuery: () => {
        this.#connections.delete(connection);
        this.#connections.set(connection, network);
      },
      onIgnored: () => counters.ignored++,
    });
    this.#connections.set(connection, network);
    socket.once('close', () => this.#connections.delete(connection));
  }

  /** Closes the idle connection that has been so for longest when there are too many, of one network or of all. @returns whether there is room. */
  #makeRoom(network: string | undefined, max: number): boolean {
    const all = [...this.#connections].filter(([, other]) => network === undefined || other === network);
    if (all.length < max) return true;
    const idle = all.find(([connection]) => connection.isIdle)?.[0];
    if (!idle) return false;
    this.#options.counters.evicted++;
    this.#connections.delete(idle);
    idle.destroy();
    return true;
  }
}

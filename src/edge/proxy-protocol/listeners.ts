// Listeners that proxies stand in front of: who connects is not the proxy, but whom it names in a header of the PROXY
// protocol. Where `PROXY_PROTOCOL` does not name a listener, nothing is changed about it.

import type { Server, Socket } from 'node:net';
import { type TLSSocket, Server as TlsServer } from 'node:tls';
import type { Logger } from 'pino';
import { type Networks, networksOf } from '../../net/networks.ts';
import { connectionKey, copyProxiedPeer, ipOf } from '../../tunnel/network/peer.ts';
import { LOCAL_HEADER } from '../../tunnel/network/proxy-protocol.ts';
import { readHeader } from './reader.ts';
import type { ProxyProtocolListener, ProxySettings } from './settings.ts';

/** How long a proxy may take for its header; milliseconds. It knows all of it when it connects. */
const HEADER_MS = 5000;
/** Connections whose header has not come: for one more, the oldest goes. */
const WAITING_MAX = 4096;
/** Of connections that were closed for their header, the log has one in so many milliseconds. */
const LOG_MS = 5000;

export interface ProxyProtocolOptions {
  log: Pick<Logger, 'warn'>;
  /** How long a header may take; the usual when left out. */
  headerMs?: number;
}

type Take = (socket: Socket) => void;

interface Waiting {
  socket: Socket;
  /** Ends the connection. */
  drop(): void;
}

export class ProxyProtocolListeners {
  readonly #listeners: ReadonlySet<ProxyProtocolListener>;
  readonly #proxies: Networks;
  readonly #options: ProxyProtocolOptions;
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();
  #isClosed = false;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor({ trustedProxies, proxyProtocol }: ProxySettings, options: ProxyProtocolOptions) {
    this.#listeners = new Set(proxyProtocol);
    this.#proxies = networksOf(trustedProxies);
    this.#options = options;
  }

  /** Connections of which the header has not come. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** What a listener does with new connections: with those of proxies, when it is known who they are for. */
  accepting(listener: ProxyProtocolListener, take: Take): Take {
    return this.#listeners.has(listener) ? (socket) => this.#begin(listener, socket, take) : take;
  }

  /**
   * The same for all that a server's `connection` is told to now, Node's own HTTP and TLS among them: what listens to it
   * later hears of connections before their header is read.
   */
  guard(listener: ProxyProtocolListener, server: Server): void {
    if (!this.#listeners.has(listener)) return;
    const takers = server.listeners('connection') as Take[];
    server.removeAllListeners('connection');
    const keepPeer = server instanceof TlsServer ? peerKeeper(server) : undefined;
    const take = this.accepting(listener, (socket) => {
      keepPeer?.(socket);
      for (const taker of takers) taker.call(server, socket);
    });
    server.on('connection', take);
  }

  /**
   * What a connection from this machine has to begin with, to be let in as what it is.
   * @param ip that it comes from. @returns undefined for nothing.
   */
  localHeader(listener: ProxyProtocolListener, ip: string): Buffer | undefined {
    return this.#listeners.has(listener) && this.#proxies.has(ip) ? LOCAL_HEADER : undefined;
  }

  /** Ends the connections of which it is not known who they are for, and those that are still to come. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { drop } of [...this.#waiting]) drop();
  }

  #begin(listener: ProxyProtocolListener, socket: Socket, take: Take): void {
    if (this.#isClosed) return void socket.destroy();
    if (!this.#proxies.has(ipOf(socket))) return void take(socket);
    const [oldest] = this.#waiting.size >= WAITING_MAX ? this.#waiting : [];
    oldest?.drop();
    const ip = ipOf(socket); // Of a socket that is closed it is forgotten.
    const leave = () => {
      this.#waiting.delete(waiting);
      clearTimeout(deadline);
    };
    const onRead = () => {
      leave();
      take(socket);
    };
    const onFailure = (reason: string | undefined) => {
      leave();
      socket.destroy();
      if (reason !== undefined) this.#logRefusal(listener, ip, reason);
    };
    const giveUp = readHeader(socket, onRead, onFailure);
    const end = (reason: string | undefined) => {
      giveUp();
      socket.on('error', () => {}); // Nothing is to be done for it.
      onFailure(reason);
    };
    const { headerMs = HEADER_MS } = this.#options;
    const deadline = setTimeout(() => end('it did not come in time'), headerMs);
    const waiting: Waiting = { socket, drop: () => end(undefined) };
    this.#waiting.add(waiting);
  }

  #logRefusal(listener: ProxyProtocolListener, ip: string, reason: string): void {
    const now = performance.now();
    if (now - this.#loggedAt < LOG_MS) return void this.#unlogged++;
    const said = { listener, ip, reason, ...(this.#unlogged > 0 && { unlogged: this.#unlogged }) };
    this.#options.log.warn(said, 'connection of a trusted proxy closed: invalid PROXY header');
    this.#loggedAt = now;
    this.#unlogged = 0;
  }
}

/** For a server whose TLS Node ends: it does not say which connection TLS was begun on. */
function peerKeeper(server: TlsServer): Take {
  const raws = new Map<string, Socket>();
  server.prependListener('secureConnection', (tls: TLSSocket) => {
    const raw = raws.get(connectionKey(tls));
    if (raw) copyProxiedPeer(tls, raw);
  });
  return (raw) => {
    const ends = connectionKey(raw);
    raws.set(ends, raw);
    raw.once('close', () => {
      if (raws.get(ends) === raw) raws.delete(ends);
    });
  };
}

// The connections of a listener for programs and people: how many there may be, of all and of one address, and how one
// ends whose client takes nothing of its answer.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { addressBlock, connectionKey, ipOf } from '../../tunnel/network/peer.ts';
import { unsentBytes } from './response-body.ts';

/** One address may have a part of all connections: 1 / ADDRESS_PART. */
const ADDRESS_PART = 4;
/** An answer of which nothing was taken for so long is cut, with its connection. */
export const WRITE_STALL_MS = 30_000;
/** Bytes of answers that may wait in memory for their clients, in all; beyond it those that wait longest are cut. */
const UNSENT_MAX = 64 * 1024 * 1024;
/** Requests that may wait on one connection: nobody has a reason to send many without reading answers. */
const PIPELINED_MAX = 15;
const CHECK_INTERVAL_MS = 1000;

export interface ConnectionLimits {
  max: number;
  /** Whether an address is a proxy, through which many come. */
  isProxy(ip: string): boolean;
  writeStallMs?: number;
}

interface Connection {
  /** As it was accepted; closing it closes what TLS made of it. */
  raw: Socket;
  /** What HTTP is spoken on: the same, or TLS above it once hands are shaken. */
  socket: Socket;
  addressGroup: string;
  /** The request that is under way. */
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  /** Begin those that came after it (pipelining), in order. */
  waiting: (() => void)[];
  /** When its client did something last: connected, asked, took some of an answer. Of the monotonic clock. */
  lastActive: number;
  /** Bytes that its client, or the system for it, has taken, and how often in a row we looked and found no more. */
  taken: number;
  idleChecks: number;
}

export class ApiConnections {
  readonly #limits: ConnectionLimits;
  readonly #open = new Set<Connection>();
  /** By their sockets: that which was accepted, and that of TLS. */
  readonly #bySocket = new WeakMap<Socket, Connection>();
  readonly #addressGroups = new Map<string, Set<Connection>>();

  /** Looks after the connections of a server from now on, until it is closed. */
  constructor(server: Server, limits: ConnectionLimits) {
    this.#limits = limits;
    const { writeStallMs = WRITE_STALL_MS } = limits;
    server.on('connection', (socket: Socket) => this.#accept(socket));
    if (server instanceof TlsServer) {
      const waiting = new Map<string, Connection>();
      server.on('connection', (raw: Socket) => {
        const connection = this.#bySocket.get(raw);
        if (!connection) return;
        const ends = connectionKey(raw);
        waiting.set(ends, connection);
        raw.once('close', () => waiting.delete(ends));
      });
      server.on('secureConnection', (socket) => {
        const connection = waiting.get(connectionKey(socket));
        if (!connection) return;
        connection.socket = socket;
        this.#bySocket.set(socket, connection);
      });
    }
    const checkIntervalMs = Math.min(CHECK_INTERVAL_MS, writeStallMs / 4);
    const timer = setInterval(
      () => this.#checkStalls(performance.now(), writeStallMs / checkIntervalMs),
      checkIntervalMs,
    );
    timer.unref();
    server.once('close', () => clearInterval(timer));
  }

  /**
   * Does the work of a request, which ends when its response is closed: of each connection one after the other (RFC 9112,
   * section 9.3.2), so that what one client asks for at once is not what all others wait for. What waits when the
   * connection ends is never begun, and one request too many ends it.
   */
  enqueue(request: IncomingMessage, response: ServerResponse, work: () => void): void {
    const connection = this.#bySocket.get(request.socket);
    if (!connection) return void work();
    const start = () => {
      connection.lastActive = performance.now();
      connection.request = request;
      connection.response = response;
      response.once('close', () => this.#end(connection));
      work();
    };
    if (!connection.response) start();
    else if (connection.waiting.length < PIPELINED_MAX) connection.waiting.push(start);
    else connection.raw.destroy();
  }

  /** The one answer that is under way on a connection; undefined when there is none, null when more are to follow. */
  responseOn(socket: Socket): ServerResponse | undefined | null {
    const connection = this.#bySocket.get(socket);
    return connection && connection.waiting.length > 0 ? null : connection?.response;
  }

  /** The answer that is under way on a connection, whether or not more are to follow. */
  currentResponse(socket: Socket): ServerResponse | undefined {
    return this.#bySocket.get(socket)?.response;
  }

  #end(connection: Connection): void {
    connection.lastActive = performance.now();
    connection.request = undefined;
    connection.response = undefined;
    if (!connection.socket.destroyed) connection.waiting.shift()?.();
  }

  #accept(raw: Socket): void {
    const ip = ipOf(raw);
    const addressGroup = addressBlock(ip);
    const { max, isProxy } = this.#limits;
    const members = this.#addressGroups.get(addressGroup) ?? new Set();
    const limit = isProxy(ip) ? max : Math.max(1, Math.floor(max / ADDRESS_PART));
    // Whoever has too many gives one of his own; when all have too many, it is whoever has waited longest.
    const isFull = this.#open.size >= max;
    if (members.size >= limit || isFull) {
      const idlest = idlestOf(members.size >= limit ? members : this.#open);
      (idlest?.raw ?? raw).destroy();
      if (!idlest) return;
      this.#forget(idlest);
    }
    const connection: Connection = {
      ...{ raw, socket: raw, addressGroup, request: undefined, response: undefined, waiting: [] },
      ...{ lastActive: performance.now(), taken: 0, idleChecks: 0 },
    };
    this.#open.add(connection);
    this.#bySocket.set(raw, connection);
    this.#addressGroups.set(addressGroup, members.add(connection));
    raw.once('close', () => this.#forget(connection));
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection);
    const members = this.#addressGroups.get(connection.addressGroup);
    if (members?.delete(connection) && members.size === 0) this.#addressGroups.delete(connection.addressGroup);
  }

  /**
   * Cuts answers that stand still, and those that wait longest when they hold too much. What counts is how often nothing
   * had moved, not the time: while we are busy ourselves nobody is slow.
   */
  #checkStalls(now: number, idleChecksMax: number): void {
    let unsent = 0;
    const waiting: Connection[] = [];
    for (const connection of this.#open) {
      const { socket, raw, response } = connection;
      if (socket.writableLength === 0) continue;
      const taken = socket.bytesWritten - socket.writableLength;
      if (taken !== connection.taken) {
        connection.taken = taken;
        connection.idleChecks = 0;
        connection.lastActive = now;
      } else if (++connection.idleChecks >= idleChecksMax) {
        raw.destroy();
        continue;
      }
      unsent += socket.writableLength + (response ? unsentBytes(response) : 0);
      waiting.push(connection);
    }
    if (unsent <= UNSENT_MAX) return;
    waiting.sort((one, other) => one.lastActive - other.lastActive);
    for (const { raw, socket, response } of waiting) {
      if (unsent <= UNSENT_MAX) break;
      unsent -= socket.writableLength + (response ? unsentBytes(response) : 0);
      raw.destroy();
    }
  }
}

/** The one whose client has done nothing for longest; undefined when all wait for us. */
function idlestOf(connections: Iterable<Connection>): Connection | undefined {
  let idlest: Connection | undefined;
  for (const connection of connections) {
    const { socket, request } = connection;
    const isOurs = socket.writableLength === 0 && request?.complete === true;
    if (!isOurs && (!idlest || connection.lastActive < idlest.lastActive)) idlest = connection;
  }
  return idlest;
}

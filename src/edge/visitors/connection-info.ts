// What modules, reports and upstreams know of a visitor's connection.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { payloadBytesRead } from '../../tunnel/network/peer.ts';
import { clientFingerprint } from './client-hellos.ts';

/** The connection that requests come on. */
export interface ConnectionInfo {
  readonly visitor: Visitor;
  /** The other end of the connection: the visitor, or a proxy that asks for them. */
  readonly peer: Visitor;
  readonly startedAt: number;
  readonly serverName: string | undefined;
  readonly tls: TLSSocket | undefined;
  /** As `VisitorConnection` has it. */
  readonly clientFingerprint: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** The rules of endpoints whose connection modules have let it pass. */
  readonly admitted: Set<object>;
}

/** Read from its socket. */
export class SocketInfo implements ConnectionInfo {
  readonly visitor: Visitor;
  readonly peer: Visitor;
  readonly startedAt: number;
  readonly #socket: Socket;
  #admitted: Set<object> | undefined;

  /** @param admitted the rules of endpoints whose connection modules it has passed. */
  constructor(socket: Socket, visitor: Visitor, startedAt: number, admitted?: Set<object>, peer = visitor) {
    this.#socket = socket;
    this.visitor = visitor;
    this.peer = peer;
    this.startedAt = startedAt;
    this.#admitted = admitted;
  }

  get admitted(): Set<object> {
    this.#admitted ??= new Set();
    return this.#admitted;
  }

  get tls(): TLSSocket | undefined {
    return this.#socket instanceof TLSSocket ? this.#socket : undefined;
  }

  get serverName(): string | undefined {
    // Node's types leave out that a server's socket has it; false when the visitor named nobody.
    const name = (this.#socket as { servername?: string | false }).servername;
    return name ? name.toLowerCase() : undefined;
  }

  get clientFingerprint(): string {
    return clientFingerprint(this.#socket);
  }

  get bytesIn(): number {
    return payloadBytesRead(this.#socket);
  }

  get bytesOut(): number {
    return this.#socket.bytesWritten;
  }
}

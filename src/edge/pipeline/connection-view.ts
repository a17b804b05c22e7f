// A visitor's connection as modules see it.

import type { TLSSocket } from 'node:tls';
import type { VisitorConnection } from '../../http/exchange.ts';
import type { Visitor } from '../../tunnel/endpoints/endpoint.ts';
import type { ConnectionInfo } from '../visitors/connection-info.ts';

export class ConnectionView implements Omit<VisitorConnection, 'endpoint' | 'decisions'> {
  readonly #connection: ConnectionInfo;

  constructor(connection: ConnectionInfo) {
    this.#connection = connection;
  }

  get visitor(): Visitor {
    return this.#connection.visitor;
  }

  get startedAt(): number {
    return this.#connection.startedAt;
  }

  get serverName(): string | undefined {
    return this.#connection.serverName;
  }

  get tls(): TLSSocket | undefined {
    return this.#connection.tls;
  }

  get clientFingerprint(): string {
    return this.#connection.clientFingerprint;
  }

  get bytesIn(): number {
    return this.#connection.bytesIn;
  }

  get bytesOut(): number {
    return this.#connection.bytesOut;
  }
}

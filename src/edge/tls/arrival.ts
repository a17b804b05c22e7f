// A visitor who has just come, with a ClientHello that was read and nothing that was answered yet.

import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ModuleDecisions } from '../../http/exchange.ts';
import type { NewConnection, TlsTerms } from '../../http/module.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { bytesReadOf } from '../../tunnel/network/peer.ts';
import { NOBODY, visitorOf } from '../visitors.ts';

export class Arrival implements NewConnection {
  readonly visitor: Visitor;
  readonly startedAt: number;
  readonly serverName: string | undefined;
  endpoint: LiveEndpoint;
  readonly decisions: ModuleDecisions | undefined;
  /** Once somebody has ended the TLS here. */
  tls: TLSSocket | undefined;
  readonly #raw: Socket;
  readonly #terminate: (terms: TlsTerms) => Promise<TLSSocket | undefined>;

  /** @param terminate speaks TLS with the visitor; undefined when that failed. */
  constructor(
    raw: Socket,
    { endpoint, name, decisions }: { endpoint: LiveEndpoint; name: string; decisions: ModuleDecisions | undefined },
    startedAt: number,
    terminate: (terms: TlsTerms) => Promise<TLSSocket | undefined>,
  ) {
    this.#raw = raw;
    this.visitor = visitorOf(raw, false) ?? NOBODY;
    this.startedAt = startedAt;
    this.endpoint = endpoint;
    this.serverName = name;
    this.decisions = decisions;
    this.#terminate = terminate;
  }

  get bytesIn(): number {
    return bytesReadOf(this.#raw);
  }

  get bytesOut(): number {
    return this.#raw.bytesWritten;
  }

  async terminateTls(terms: TlsTerms): Promise<boolean> {
    if (this.tls) return true; // Once is enough.
    this.tls = await this.#terminate(terms);
    return this.tls !== undefined;
  }
}

// A new connection whose ClientHello was read, before anything is sent back.

import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ModuleDecisions } from '../../http/exchange.ts';
import type { NewConnection, TlsParameters } from '../../http/module.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { payloadBytesRead } from '../../tunnel/network/peer.ts';
import type { StreamCounters } from '../metrics/counters.ts';
import type { ConnectionRecording } from '../reports/connection-recording.ts';
import { clientFingerprint } from '../visitors/client-hellos.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { UNKNOWN_VISITOR, visitorOf } from '../visitors/connections.ts';
import type { ServerName } from './server-name.ts';

/** A visitor on the way to what serves the name. */
export interface TlsConnection {
  slot: ConnectionSlot;
  /** What was read. */
  bytes: Buffer;
  named: ServerName | undefined;
  /** At endpoints of `tls` whose connections are reported. */
  recording: ConnectionRecording | undefined;
  /** What passes through, where it is no HTTP. */
  traffic: StreamCounters | undefined;
  /** What a name without an endpoint is held by. Throws when that could not be looked up. */
  heldAs(): string | undefined;
  /** Whether the connection modules run for each request instead. */
  admitsRequests: boolean;
  /** Ends the time that a handshake may take. */
  settled(): void;
}

export class PendingTlsConnection implements NewConnection {
  readonly visitor: Visitor;
  readonly startedAt: number;
  readonly serverName: string | undefined;
  endpoint: LiveEndpoint;
  readonly decisions: ModuleDecisions | undefined;
  /** Once the TLS was terminated here. */
  tls: TLSSocket | undefined;
  readonly #raw: Socket;
  readonly #terminate: (parameters: TlsParameters) => Promise<TLSSocket | undefined>;

  /** @param terminate speaks TLS with the visitor; undefined when that failed. */
  constructor(
    raw: Socket,
    { endpoint, name, decisions }: { endpoint: LiveEndpoint; name: string; decisions: ModuleDecisions | undefined },
    startedAt: number,
    terminate: (parameters: TlsParameters) => Promise<TLSSocket | undefined>,
  ) {
    this.#raw = raw;
    this.visitor = visitorOf(raw, false) ?? UNKNOWN_VISITOR;
    this.startedAt = startedAt;
    this.endpoint = endpoint;
    this.serverName = name;
    this.decisions = decisions;
    this.#terminate = terminate;
  }

  get clientFingerprint(): string {
    return clientFingerprint(this.#raw);
  }

  get bytesIn(): number {
    return payloadBytesRead(this.#raw);
  }

  get bytesOut(): number {
    return this.#raw.bytesWritten;
  }

  async terminateTls(parameters: TlsParameters): Promise<boolean> {
    if (this.tls) return true; // Once is enough.
    this.tls = await this.#terminate(parameters);
    return this.tls !== undefined;
  }
}

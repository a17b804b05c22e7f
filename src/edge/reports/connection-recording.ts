// What is recorded of a connection to an endpoint of TCP or TLS, where connections are reported.

import type { Socket } from 'node:net';
import type { ModuleDecisions } from '../../http/exchange.ts';
import type { LiveEndpoint, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { payloadBytesRead } from '../../tunnel/network/peer.ts';
import { UNKNOWN_VISITOR, visitorOf } from '../visitors/connections.ts';
import { type ReportingServices, reportConnection, wantsConnections } from './safe-reporter.ts';
import type { ConnectionReport } from './traffic-reports.ts';

/**
 * Gives its report when it is closed.
 * @param serverName of its ClientHello; '' for none.
 * @returns undefined where connections are not reported.
 */
export function recordConnection(
  services: ReportingServices,
  endpoint: LiveEndpoint,
  socket: Socket,
  serverName = '',
): ConnectionRecording | undefined {
  if (!wantsConnections(services, endpoint.accountId)) return undefined;
  return new ConnectionRecording(services, endpoint, socket, serverName);
}

export class ConnectionRecording {
  readonly decisions: ModuleDecisions = {};
  readonly #services: ReportingServices;
  readonly #endpoint: { id: string; accountId: string };
  readonly #serverName: string;
  readonly #visitor: Visitor;
  readonly #startedAt: number;
  #socket: Socket;

  constructor(services: ReportingServices, { id, accountId }: LiveEndpoint, socket: Socket, serverName: string) {
    this.#services = services;
    this.#endpoint = { id, accountId };
    this.#serverName = serverName;
    this.#visitor = visitorOf(socket, false) ?? UNKNOWN_VISITOR;
    this.#startedAt = services.time();
    this.#socket = socket;
    if (socket.closed) this.#give();
    else socket.once('close', () => this.#give());
  }

  /** The visitor's TLS ends here: what counts is what is in it. */
  useTls(tls: Socket): void {
    this.#socket = tls;
  }

  #give(): void {
    reportConnection(this.#services, this.#report());
  }

  #report(): ConnectionReport {
    const { ip, local } = this.#visitor;
    return {
      accountId: this.#endpoint.accountId,
      endpointId: this.#endpoint.id,
      connection: {
        clientIp: ip,
        serverIp: local.ip,
        serverPort: local.port,
        serverName: this.#serverName,
        startedAt: this.#startedAt,
        endedAt: this.#services.time(),
        bytesIn: payloadBytesRead(this.#socket),
        bytesOut: this.#socket.bytesWritten,
      },
      decisions: { ...this.decisions },
    };
  }
}

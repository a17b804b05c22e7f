// An address that the gateway connects to itself, as an endpoint among those of tunnels.

import { writeHostPort } from '../../net/host-port.ts';
import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import type { LiveEndpoint, OpenFailure, Proto, Visitor } from '../../tunnel/endpoints/endpoint.ts';
import type { AddressDialer } from './address-dialer.ts';
import type { DialTarget } from './dial.ts';

export class AddressEndpoint implements LiveEndpoint {
  readonly id = '';
  readonly tunnelId = '';
  readonly publicUrl = '';
  readonly accountId: string;
  readonly proto: Proto;
  /** What is spoken, and where: streams to others are none to this one. */
  readonly hostname: string;
  readonly port: number;
  readonly proxyProtocol = 0;
  readonly upstreamProtocol = 'http1';
  readonly sharesConnections = true;
  readonly isDialed = true;
  readonly forwardsTo: string;
  readonly tls = 'passthrough';
  /** Whether anybody listens there is seen when a visitor comes. */
  readonly isOpen = true;
  readonly #target: DialTarget;
  readonly #dialer: AddressDialer;

  /** @param proto `https` of requests; `tls` and `tcp` of whole connections, of whose protocol nothing is known. */
  constructor(target: Omit<DialTarget, 'protocols'>, accountId: string, proto: Proto, dialer: AddressDialer) {
    const { host, port, tls } = target;
    this.accountId = accountId;
    this.proto = proto;
    this.hostname = `${tls ? 'tls' : 'tcp'} ${writeHostPort(target)}`;
    this.port = port;
    this.forwardsTo = `${tls ? 'https' : 'http'}://${writeHostPort(target)}`;
    this.#target = { host, port, tls, protocols: proto === 'https' ? ['http/1.1'] : undefined };
    this.#dialer = dialer;
  }

  open(_visitor: Visitor, events: StreamEvents): Promise<ByteStream | OpenFailure> {
    return this.#dialer.open(this.accountId, this.#target, events);
  }
}

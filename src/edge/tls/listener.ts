// The listener for HTTPS and TLS endpoints: the name that a visitor asks for says who ends the TLS, and what is inside.

import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsTerms } from '../../http/module.ts';
import { abort } from '../../protocol/relay.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { ipOf } from '../../tunnel/network/peer.ts';
import { type EndpointHandling, handlingOf } from '../handling.ts';
import { Connections } from '../http/connections.ts';
import type { SharedFront } from '../http/front.ts';
import { Http2Visitors } from '../http2/visitors.ts';
import { type ConnectionRecording, recordConnection } from '../reports/connection-recording.ts';
import { forward } from '../tcp.ts';
import type { VisitorLimit } from '../visitor-limit.ts';
import type { VisitorPlace } from '../visitor-places.ts';
import { NOBODY, Visitors, visitorOf } from '../visitors.ts';
import { admit } from '../visits/admission.ts';
import type { StreamCounters } from '../visits/counters.ts';
import { countConnection, trafficAt } from '../visits/counting.ts';
import { Arrival } from './arrival.ts';
import { BoundVisitors } from './bound-visitors.ts';
import type { Certificates } from './certificates.ts';
import type { Peek } from './client-hello.ts';
import { Contexts } from './contexts.ts';
import { readFirstBytes, refuse } from './first-bytes.ts';
import { Handshakes } from './handshakes.ts';
import { type Named, namedBy } from './name.ts';
import { ownFront } from './own-front.ts';
import { agreedTerms, TermedHandshakes } from './terms.ts';

/** After so much silence the kernel asks whether a visitor is still there; milliseconds. */
const KEEP_ALIVE_MS = 60_000;
const OTHER_TERMS = 'mutual TLS is on, and a policy wants the TLS of visitors to be on other terms';
const ALPN = ['h2', 'http/1.1', 'http/1.0'];

export interface TlsListenerOptions {
  /** Its `find` knows the endpoints of `https` and `tls`, and only the former are given HTTP. */
  front: SharedFront;
  certificates: Certificates;
  limit: VisitorLimit;
  /** Visitors wait until all that is configured is live. */
  ready?: Promise<unknown>;
  /** What passes through endpoints of `tls`. */
  traffic?: StreamCounters;
}

/** A visitor on the way to what serves the name. */
interface Caller {
  place: VisitorPlace;
  /** What was read. */
  bytes: Buffer;
  named: Named | undefined;
  /** At endpoints of `tls` of which somebody wants to hear. */
  recording: ConnectionRecording | undefined;
  /** What passes through, where it is no HTTP. */
  traffic: StreamCounters | undefined;
  /** Whether what connections have to pass is asked for each request. */
  isAskedLater: boolean;
  /** Ends the time that a handshake may take. */
  settled(): void;
}

export class TlsListener {
  /** Not listening yet. */
  readonly server: Server;
  readonly #options: TlsListenerOptions;
  readonly #visitors: Visitors;
  readonly #connections: Connections;
  readonly #http2: Http2Visitors;
  /** For HTTP, and for endpoints that are given what is inside the TLS. */
  readonly #https: Handshakes;
  readonly #plain = new Handshakes({});
  readonly #termed = new TermedHandshakes();
  readonly #contexts: Contexts;
  /** Visitors of endpoints to which something is done. */
  readonly #bound: BoundVisitors;

  /** @param identity the certificate that visitors who name nobody are shown, and its key, in PEM. */
  constructor(options: TlsListenerOptions, identity: { cert: string; key: string }) {
    const { front, limit, certificates } = options;
    this.#options = options;
    this.#visitors = new Visitors(limit);
    this.#bound = new BoundVisitors(front.find);
    this.#contexts = new Contexts(certificates, front.whereIs);
    this.#connections = new Connections(front.settings, front.now);
    this.#http2 = new Http2Visitors(front.settings, front.now);
    this.#https = new Handshakes({ identity, alpn: ALPN });
    this.server = createServer(
      { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
      (socket) => this.#onSocket(socket),
    );
    this.server.on('error', () => {}); // One connection could not be accepted, for want of descriptors; the next may be.
  }

  /** What visitors who name nobody are shown from now on. */
  setIdentity(identity: { cert: string; key: string }): void {
    this.#https.setIdentity(identity);
  }

  /** Connections that are open. */
  get size(): number {
    return this.#visitors.size;
  }

  /** Cuts the visitors whom the terms would not let in any more as they did: they have to come anew. */
  review(): void {
    this.#bound.review();
  }

  /** Ends listening. Answers under way are completed; what is still open after `drainMs` is cut. */
  async close(drainMs: number): Promise<void> {
    this.server.close();
    this.#connections.stop();
    this.#http2.stop();
    await this.#visitors.end(drainMs);
  }

  #onSocket(raw: Socket): void {
    const place = this.#visitors.admit(raw);
    if (!place) return void abort(raw);
    raw.on('error', () => {}); // Followed by its close, which is what counts.
    const deadline = setTimeout(() => raw.destroy(), this.#options.front.settings.headTimeout);
    const settled = () => clearTimeout(deadline);
    raw.once('close', settled);
    readFirstBytes(raw, (hello, bytes) => {
      this.#route(place, hello, bytes, settled).catch(() => raw.destroy());
    });
  }

  async #route(place: VisitorPlace, hello: Peek, bytes: Buffer, settled: () => void): Promise<void> {
    const { socket: raw } = place;
    if (hello.state !== 'hello') return void raw.destroy();
    await this.#options.ready;
    const named = namedBy(hello.serverName);
    if (hello.serverName !== undefined && !named) return refuse(raw);
    const { find, visits } = this.#options.front;
    const endpoint = named && find(named.name);
    const isTls = endpoint?.proto === 'tls';
    const recording = isTls ? recordConnection(visits, endpoint, raw, named?.name) : undefined;
    if (isTls && !place.use(endpoint.accountId)) return abort(raw);
    if (isTls) countConnection(endpoint, raw, this.#options.traffic?.tls);
    const traffic = trafficAt(endpoint?.meter, this.#options.traffic);
    const caller: Caller = { place, bytes, named, recording, traffic, isAskedLater: false, settled };
    const handling = endpoint && handlingOf(endpoint);
    if (named && handling) this.#bound.bind(raw, named.name, endpoint, handling);
    if (named && handling) caller.isAskedLater = this.#isAskedLater(raw, endpoint, handling);
    if (!named || !handling || handling.connection.length === 0 || caller.isAskedLater)
      return this.#begin(caller, endpoint, handling?.tls);
    const about = { endpoint, name: named.name, decisions: recording?.decisions };
    const arrival = new Arrival(raw, about, visits.time(), (terms) => this.#terminate(caller, arrival.endpoint, terms));
    const admitted = await admit(arrival, handling, visits);
    if (raw.destroyed) return;
    if (!admitted) return void abort(raw);
    if (!arrival.tls) return this.#begin(caller, admitted, handling.tls);
    // It was ended as a policy wants it; that cannot take the place of mutual TLS.
    const isMutual = [handling, handlingOf(admitted)].some((passed) => passed?.tls?.clientAuthorities);
    if (isMutual) return this.#turnAway(raw, admitted);
    settled();
    this.#serve(caller, arrival.tls, admitted);
  }

  /** Whether it is a proxy's connection, and each of its requests may be somebody else's. */
  #isAskedLater(raw: Socket, { proto }: LiveEndpoint, { connection }: EndpointHandling): boolean {
    const { proxies } = this.#options.front;
    return proto === 'https' && proxies?.has(ipOf(raw)) === true && !connection.some(({ endsTls }) => endsTls);
  }

  /**
   * Goes on with a visitor whose TLS nobody has ended yet.
   * @param visited the terms of the endpoint that the visitor came to, from which policies may have sent it on.
   */
  async #begin(caller: Caller, endpoint: LiveEndpoint | undefined, visited: TlsTerms | undefined): Promise<void> {
    const { bytes, named, traffic, settled, place } = caller;
    const { socket: raw } = place;
    const terms = agreedTerms(visited, endpoint && handlingOf(endpoint)?.tls);
    if (terms === 'conflict') return this.#turnAway(raw, endpoint as LiveEndpoint);
    if (endpoint?.proto === 'tls' && endpoint.tls === 'passthrough' && !terms) {
      settled();
      return forward(raw, endpoint, { passthrough: true, first: bytes, traffic });
    }
    if (terms && endpoint) {
      const { ip } = visitorOf(raw, false) ?? NOBODY;
      const socket = await this.#terminate(caller, endpoint, terms);
      if (!socket) {
        // Why it failed, Node does not say before the visitor's address is forgotten.
        const module = terms.clientAuthorities ? 'mutual_tls' : 'tls_termination';
        return this.#tell(endpoint, module, 'the TLS handshake failed', ip);
      }
      settled();
      return this.#serve(caller, socket, endpoint);
    }
    const context = named && (await this.#contexts.for(named.name, endpoint));
    if (raw.destroyed) return;
    if (named && !context) return refuse(raw);
    const shown = named && context && { name: named.sent, context };
    const handshakes = endpoint?.proto === 'tls' ? this.#plain : this.#https;
    handshakes.begin(raw, bytes, shown, (socket) => {
      settled();
      this.#serve(caller, socket, endpoint);
    });
  }

  /** Ends the TLS of a visitor who named an endpoint, on terms. @returns undefined when the visitor is gone. */
  async #terminate(
    { place: { socket: raw }, bytes, named }: Caller,
    endpoint: LiveEndpoint,
    terms: TlsTerms,
  ): Promise<TLSSocket | undefined> {
    const { name, sent } = named as Named;
    const own =
      typeof endpoint.tls === 'object' ? { cert: endpoint.tls.certificate, key: endpoint.tls.key } : undefined;
    const shown = own ?? (await this.#options.certificates.identity(name, endpoint.hostname));
    if (raw.destroyed) return undefined;
    if (!shown) {
      refuse(raw);
      return undefined;
    }
    const alpn = endpoint.proto === 'https' ? ALPN : undefined;
    return new Promise((resolve) => {
      raw.once('close', () => resolve(undefined));
      this.#termed.begin(raw, bytes, { name: sent, shown, terms, alpn }, resolve);
    });
  }

  /** Of a visitor whom a policy has sent where mutual TLS is on, on terms that are not those. */
  #turnAway(raw: Socket, endpoint: LiveEndpoint): void {
    this.#tell(endpoint, 'mutual_tls', OTHER_TERMS, (visitorOf(raw, false) ?? NOBODY).ip);
    abort(raw);
  }

  #tell({ id, accountId }: LiveEndpoint, module: string, reason: string, ip: string): void {
    const about = { module, reason, endpointId: id, accountId, ip };
    this.#options.front.visits.refused({ ...about, operationId: undefined, status: undefined });
  }

  /** @param chosen the endpoint whose turn it was when the visitor came. */
  #serve(
    { place, named, recording, traffic, isAskedLater }: Caller,
    socket: TLSSocket,
    chosen: LiveEndpoint | undefined,
  ): void {
    recording?.within(socket);
    if (chosen?.proto === 'tls') return void forward(socket, chosen, { traffic });
    const front = ownFront(this.#options.front, named?.name, chosen, !isAskedLater);
    if (socket.alpnProtocol === 'h2') this.#http2.accept(socket, place, front);
    else this.#connections.accept(socket, front, place);
  }
}

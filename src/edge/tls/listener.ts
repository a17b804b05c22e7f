// The listener for HTTPS and TLS endpoints: the name that a visitor asks for says who ends the TLS, and what is inside.

import { createServer, type Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsParameters } from '../../http/module.ts';
import { abortSocket } from '../../protocol/relay.ts';
import type { LiveEndpoint } from '../../tunnel/endpoints/endpoint.ts';
import { Http1Connections } from '../http1/connections.ts';
import { Http2Connections } from '../http2/connections.ts';
import type { StreamCounters } from '../metrics/counters.ts';
import { combinedTraffic, countConnection } from '../metrics/request-counter.ts';
import { tlsModuleNames } from '../modules/tls.ts';
import { admitConnection, passesRestriction } from '../pipeline/connection-admission.ts';
import type { HttpListenerContext } from '../pipeline/listener-context.ts';
import { endpointRulesOf } from '../pipeline/rules/endpoint-rules.ts';
import { recordConnection } from '../reports/connection-recording.ts';
import { forward } from '../tcp/listener.ts';
import type { ConnectionLimit } from '../visitors/connection-limit.ts';
import type { ConnectionSlot } from '../visitors/connection-slots.ts';
import { UNKNOWN_VISITOR, VisitorConnections, visitorOf } from '../visitors/connections.ts';
import { AcmeHandshakes, isAcmeHandshake } from './acme-handshakes.ts';
import { admitsEachRequest } from './admits-each-request.ts';
import type { Certificates } from './certificates.ts';
import type { Peek } from './client-hello.ts';
import { connectionContext } from './connection-context.ts';
import { TlsConnectionReview } from './connection-review.ts';
import { readFirstBytes, refuse } from './first-bytes.ts';
import { type HandshakeCounts, HandshakeTurns } from './handshake-turns.ts';
import { Handshakes } from './handshakes.ts';
import { findNamedEndpoint } from './named-endpoint.ts';
import { PendingTlsConnection, type TlsConnection } from './pending-connection.ts';
import { SecureContexts } from './secure-contexts.ts';
import { readServerName, type ServerName } from './server-name.ts';
import { mergeTlsParameters, ParameterizedHandshakes } from './tls-parameters.ts';

/** After so much silence the kernel asks whether a visitor is still there; milliseconds. */
const KEEP_ALIVE_MS = 60_000;
const OTHER_PARAMETERS = 'mutual TLS is on, and a policy wants the TLS of visitors to be on other terms';
const ALPN = ['h2', 'http/1.1', 'http/1.0'];

export interface TlsListenerOptions {
  /** Its `find` knows the endpoints of `https` and `tls`, and only the former are given HTTP. */
  listener: HttpListenerContext;
  certificates: Certificates;
  limit: ConnectionLimit;
  /** Visitors wait until all that is configured is live. */
  ready?: Promise<unknown>;
  /** What passes through endpoints of `tls`. */
  traffic?: StreamCounters;
}

export class TlsListener {
  /** Not listening yet. */
  readonly server: Server;
  readonly #options: TlsListenerOptions;
  readonly #visitors: VisitorConnections;
  readonly #connections: Http1Connections;
  readonly #http2: Http2Connections;
  /** For HTTP, and for endpoints that are given what is inside the TLS. */
  readonly #https: Handshakes;
  readonly #plain = new Handshakes({});
  readonly #parameterized = new ParameterizedHandshakes();
  readonly #contexts: SecureContexts;
  readonly #acme: AcmeHandshakes;
  readonly #turns: HandshakeTurns;
  /** Connections to endpoints that have rules. */
  readonly #review: TlsConnectionReview;

  /** @param identity the certificate for visitors without a server name, and its key, in PEM. */
  constructor(options: TlsListenerOptions, identity: { cert: string; key: string }) {
    const { listener, limit, certificates } = options;
    this.#options = options;
    this.#visitors = new VisitorConnections(limit);
    this.#review = new TlsConnectionReview(listener.find);
    this.#contexts = new SecureContexts(certificates);
    this.#acme = new AcmeHandshakes(listener.challenges);
    this.#turns = new HandshakeTurns({ now: listener.now, proxies: listener.proxies });
    this.#connections = new Http1Connections(listener.settings, listener.now);
    this.#http2 = new Http2Connections(listener.settings, listener.now);
    this.#https = new Handshakes({ identity, alpn: ALPN });
    this.server = createServer(
      { allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
      (socket) => this.#onSocket(socket),
    );
    this.server.on('error', () => {}); // One connection could not be accepted, for want of descriptors; the next may be.
  }

  /** The certificate for visitors without a server name, from now on. */
  setIdentity(identity: { cert: string; key: string }): void {
    this.#https.setIdentity(identity);
  }

  /** Connections that are open. */
  get size(): number {
    return this.#visitors.size;
  }

  /** Handshakes that had to wait, or were refused, as their address had too many. */
  get handshakeCounts(): HandshakeCounts {
    return this.#turns.counts;
  }

  /** Cuts the connections that the TLS parameters of now would not allow: visitors have to connect again. */
  review(): void {
    this.#review.review();
  }

  /** Ends listening, and idle connections after `graceMs`. Answers under way are completed; what is still open after `drainMs` is cut. */
  async close(drainMs: number, graceMs = 0): Promise<void> {
    this.server.close();
    this.#connections.stop(graceMs);
    this.#http2.stop();
    await this.#visitors.end(drainMs);
  }

  #onSocket(raw: Socket): void {
    const slot = this.#visitors.admit(raw);
    if (!slot) return void abortSocket(raw);
    raw.on('error', () => {}); // Followed by its close, which is what counts.
    const deadline = setTimeout(() => raw.destroy(), this.#options.listener.settings.headTimeout);
    const settled = () => {
      clearTimeout(deadline);
      this.#turns.end(raw);
    };
    raw.once('close', settled);
    readFirstBytes(raw, (hello, bytes) => {
      this.#route(slot, hello, bytes, settled).catch(() => raw.destroy());
    });
  }

  async #route(slot: ConnectionSlot, hello: Peek, bytes: Buffer, settled: () => void): Promise<void> {
    const { socket: raw } = slot;
    if (hello.state !== 'hello') return void raw.destroy();
    await this.#options.ready;
    const named = readServerName(hello.serverName);
    if (hello.serverName !== undefined && !named) return refuse(raw);
    const isAcme = named && isAcmeHandshake(hello.alpn);
    const acme = isAcme ? await this.#acme.answer(raw, bytes, named, this.#turns) : undefined;
    if (acme?.isAnswered) return;
    const { services } = this.#options.listener;
    const { endpoint, heldAs } = await findNamedEndpoint(this.#options.listener, named?.name);
    if (raw.destroyed) return;
    if (acme && (!endpoint || endpoint.accountId !== acme.holder)) return refuse(raw);
    const isTls = endpoint?.proto === 'tls';
    const recording = isTls ? recordConnection(services, endpoint, raw, named?.name) : undefined;
    if (isTls && !slot.use(endpoint.accountId)) return abortSocket(raw);
    if (isTls) countConnection(endpoint, raw, services.recorder, this.#options.traffic?.tls);
    if (isTls && !passesRestriction(raw, endpoint, recording?.decisions, services)) return abortSocket(raw);
    const traffic = combinedTraffic(endpoint?.meter, this.#options.traffic);
    const caller: TlsConnection = {
      ...{ slot, bytes, named, recording, traffic, heldAs, admitsRequests: false, settled },
    };
    const rules = endpoint && endpointRulesOf(endpoint);
    if (named && rules) this.#review.bind(raw, named.name, endpoint, rules);
    if (named && rules) caller.admitsRequests = admitsEachRequest(this.#options.listener, raw, endpoint);
    if (!named || !rules || rules.connection.length === 0 || caller.admitsRequests)
      return this.#begin(caller, endpoint, endpoint);
    const about = { endpoint, name: named.name, decisions: recording?.decisions };
    const pending = new PendingTlsConnection(raw, about, services.time(), (parameters) =>
      this.#terminate(caller, pending.endpoint, parameters),
    );
    const admitted = await admitConnection(pending, rules, services);
    if (raw.destroyed) return;
    if (!admitted) return void abortSocket(raw);
    if (!pending.tls) return this.#begin(caller, admitted, endpoint);
    // A policy has terminated the TLS, which is no substitute for mutual TLS.
    const isMutual = [rules, endpointRulesOf(admitted)].some((passed) => passed?.tls?.clientAuthorities);
    if (isMutual) return this.#turnAway(raw, admitted);
    settled();
    this.#serve(caller, pending.tls, admitted);
  }

  /**
   * Goes on with a visitor whose TLS was not terminated yet.
   * @param visited the endpoint that the visitor came to, from which policies may have sent it on.
   */
  async #begin(
    caller: TlsConnection,
    endpoint: LiveEndpoint | undefined,
    visited: LiveEndpoint | undefined,
  ): Promise<void> {
    const { bytes, named, traffic, settled, slot } = caller;
    const { socket: raw } = slot;
    const visitedTerms = visited && endpointRulesOf(visited)?.tls;
    const parameters = mergeTlsParameters(visitedTerms, endpoint && endpointRulesOf(endpoint)?.tls);
    if (parameters === 'conflict') return this.#turnAway(raw, endpoint as LiveEndpoint);
    if (takesTls(endpoint, visited) && !parameters) {
      settled();
      return forward(raw, endpoint, { passthrough: endpoint?.proto === 'tls', first: bytes, traffic });
    }
    if (parameters && endpoint) {
      const { ip } = visitorOf(raw, false) ?? UNKNOWN_VISITOR;
      const socket = await this.#terminate(caller, endpoint, parameters);
      if (!socket) {
        // Why it failed, Node does not say before the visitor's address is forgotten.
        const module = parameters.clientAuthorities ? tlsModuleNames.clientCertificates : tlsModuleNames.termination;
        return this.#logRefusal(endpoint, module, 'the TLS handshake failed', ip);
      }
      settled();
      return this.#serve(caller, socket, endpoint);
    }
    const context = named && (await this.#contexts.for(named.name, endpoint, caller.heldAs));
    if (raw.destroyed) return;
    if (named && !context) return refuse(raw);
    const shown = named && context && { name: named.sent, context };
    const handshakes = takesConnections(endpoint) ? this.#plain : this.#https;
    this.#turns.take(raw, () => {
      handshakes.begin(raw, bytes, shown, (socket) => {
        settled();
        this.#serve(caller, socket, endpoint);
      });
    });
  }

  /** Terminates the TLS of a visitor who named an endpoint. @returns undefined when the visitor has left. */
  async #terminate(
    { slot: { socket: raw }, bytes, named }: TlsConnection,
    endpoint: LiveEndpoint,
    parameters: TlsParameters,
  ): Promise<TLSSocket | undefined> {
    const { name, sent } = named as ServerName;
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
      const terms = { name: sent, shown, parameters, alpn };
      this.#turns.take(raw, () => this.#parameterized.begin(raw, bytes, terms, resolve));
    });
  }

  /** Refuses a visitor whom a policy has forwarded to an endpoint with mutual TLS, on other TLS parameters than its own. */
  #turnAway(raw: Socket, endpoint: LiveEndpoint): void {
    const { ip } = visitorOf(raw, false) ?? UNKNOWN_VISITOR;
    this.#logRefusal(endpoint, tlsModuleNames.clientCertificates, OTHER_PARAMETERS, ip);
    abortSocket(raw);
  }

  #logRefusal({ id, accountId }: LiveEndpoint, module: string, reason: string, ip: string): void {
    const about = { module, reason, endpointId: id, accountId, ip };
    this.#options.listener.services.logRefusal({ ...about, operationId: undefined, status: undefined });
  }

  /** @param chosen the endpoint whose turn it was when the visitor came. */
  #serve(
    { slot, named, recording, traffic, admitsRequests }: TlsConnection,
    socket: TLSSocket,
    chosen: LiveEndpoint | undefined,
  ): void {
    recording?.useTls(socket);
    if (takesConnections(chosen)) return void forward(socket, chosen, { traffic });
    const listener = connectionContext(this.#options.listener, named?.name, chosen, !admitsRequests);
    if (socket.alpnProtocol === 'h2') this.#http2.accept(socket, slot, listener);
    else this.#connections.accept(socket, listener, slot);
  }
}

/** Whether it is given what is inside the TLS as it comes. Policies send connections on to endpoints of TCP, too. */
const takesConnections = (endpoint: LiveEndpoint | undefined) => endpoint?.proto === 'tls' || endpoint?.proto === 'tcp';

/** Whether it is given the TLS itself. One of TCP says nothing of TLS: where the visitor came to does. */
const takesTls = (endpoint: LiveEndpoint | undefined, visited: LiveEndpoint | undefined) =>
  takesConnections(endpoint) && (endpoint?.proto === 'tls' ? endpoint : visited)?.tls === 'passthrough';

// The listener for HTTPS and TLS endpoints: the name that a visitor asks for says who ends the TLS, and what is inside.

import { createServer, type Server, type Socket } from 'node:net';
import type { SecureContext, TLSSocket } from 'node:tls';
import { abort, type Traffic } from '../../protocol/relay.ts';
import type { LiveEndpoint } from '../../tunnel/endpoint.ts';
import { Connections } from '../http/connections.ts';
import type { Front } from '../http/front.ts';
import { hostnameOf } from '../http/host.ts';
import { spokenTo } from '../http2/upstream.ts';
import { Http2Visitors } from '../http2/visitors.ts';
import { forward } from '../tcp.ts';
import { type VisitorLimit, Visitors } from '../visitors.ts';
import { type Certificates, contextOf } from './certificates.ts';
import type { Peek } from './client-hello.ts';
import { readFirstBytes, UNRECOGNIZED_NAME } from './first-bytes.ts';
import { Handshakes } from './handshakes.ts';

/** After so much silence the kernel asks whether a visitor is still there; milliseconds. */
const KEEP_ALIVE_MS = 60_000;

export interface TlsListenerOptions {
  /** Its `find` knows the endpoints of `https` and `tls`, and only the former are given HTTP. */
  front: Front;
  certificates: Certificates;
  limit: VisitorLimit;
  /** What passes through endpoints of `tls`. */
  traffic?: Traffic;
}

/** A visitor's name, as it was sent and as endpoints have it. */
interface Named {
  sent: string;
  name: string;
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
  /** Contexts of agents' own certificates. */
  readonly #agents = new WeakMap<object, SecureContext>();

  /** @param identity the certificate that visitors who name nobody are shown, and its key, in PEM. */
  constructor(options: TlsListenerOptions, identity: { cert: string; key: string }) {
    const { front, limit } = options;
    this.#options = options;
    this.#visitors = new Visitors(limit);
    this.#connections = new Connections(front.settings, front.now);
    this.#http2 = new Http2Visitors(front.settings, front.now);
    this.#https = new Handshakes({ identity, alpn: ['h2', 'http/1.1'] });
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

  /** Ends listening. Answers under way are completed; what is still open after `drainMs` is cut. */
  async close(drainMs: number): Promise<void> {
    this.server.close();
    this.#connections.stop();
    this.#http2.stop();
    await this.#visitors.end(drainMs);
  }

  #onSocket(raw: Socket): void {
    if (!this.#visitors.admit(raw)) return void abort(raw);
    raw.on('error', () => {}); // Followed by its close, which is what counts.
    const deadline = setTimeout(() => raw.destroy(), this.#options.front.settings.headTimeout);
    const settled = () => clearTimeout(deadline);
    raw.once('close', settled);
    readFirstBytes(raw, (hello, bytes) => {
      this.#route(raw, hello, bytes, settled).catch(() => raw.destroy());
    });
  }

  async #route(raw: Socket, hello: Peek, bytes: Buffer, settled: () => void): Promise<void> {
    if (hello.state !== 'hello') return void raw.destroy();
    const named = namedBy(hello.serverName);
    if (hello.serverName !== undefined && !named) return refuse(raw);
    const endpoint = named && this.#options.front.find(named.name);
    if (endpoint?.proto === 'tls' && endpoint.tls === 'passthrough') {
      settled();
      return forward(raw, endpoint, { passthrough: true, first: bytes, traffic: this.#options.traffic });
    }
    const context = named && (await this.#contextFor(named.name, endpoint));
    if (raw.destroyed) return;
    if (named && !context) return refuse(raw);
    const shown = named && context && { name: named.sent, context };
    if (endpoint?.proto === 'tls') {
      this.#plain.begin(raw, bytes, shown, (socket) => {
        settled();
        void forward(socket, endpoint, { traffic: this.#options.traffic });
      });
    } else {
      this.#https.begin(raw, bytes, shown, (socket) => {
        settled();
        this.#serve(socket, named?.name, endpoint);
      });
    }
  }

  async #contextFor(name: string, endpoint: LiveEndpoint | undefined): Promise<SecureContext | undefined> {
    const { certificates, front } = this.#options;
    if (endpoint && typeof endpoint.tls === 'object') return this.#agentsContext(endpoint.tls);
    const context = await certificates.secureContext(name, endpoint?.hostname);
    if (context || endpoint) return context;
    // Of a name that is somebody's, the visitor is told over TLS what is wrong with it.
    return (await front.whereIs(name)) === 'unknown' ? undefined : certificates.secureContext(name, name);
  }

  #agentsContext(pair: { certificate: string; key: string }): SecureContext {
    const known = this.#agents.get(pair);
    if (known) return known;
    const context = contextOf({ cert: pair.certificate, key: pair.key });
    this.#agents.set(pair, context);
    return context;
  }

  /** @param chosen the endpoint whose turn it was when the visitor came: it gets the first request. */
  #serve(socket: TLSSocket, name: string | undefined, chosen: LiveEndpoint | undefined): void {
    const { front } = this.#options;
    let first = chosen;
    const own: Front = {
      ...front,
      find(hostname) {
        const found = first?.isOpen && hostname === name ? first : front.find(hostname);
        first = undefined;
        return found?.proto === 'https' ? spokenTo(found) : undefined;
      },
      // A connection is for the name that its certificate was chosen by (RFC 9110, section 7.4).
      authority: name === undefined ? undefined : (hostname) => hostname === name,
    };
    if (socket.alpnProtocol === 'h2') this.#http2.accept(socket, own);
    else this.#connections.accept(socket, own);
  }
}

/** Says that no certificate is here for the name. The deadline of the handshake limits how long that takes. */
function refuse(raw: Socket): void {
  raw.resume().end(UNRECOGNIZED_NAME);
}

/** @returns undefined when it is none, or not the name of a host: addresses have no place there (RFC 6066, section 3). */
function namedBy(sent: string | undefined): Named | undefined {
  if (sent === undefined || /[:[]/.test(sent) || /^[\d.]+$/.test(sent)) return undefined;
  const bytes = Buffer.from(sent, 'latin1');
  const name = hostnameOf(bytes, 0, bytes.length);
  return name === undefined ? undefined : { sent, name };
}

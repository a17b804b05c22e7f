// TLS on sockets whose first bytes were read before, to choose the certificate.

import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type SecureContext, type SecureVersion, type Server, type TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { guarded } from '../../protocol/defect.ts';
import { isShuttingDown } from '../../protocol/relay.ts';
import { SERVER_TLS } from '../../protocol/tls-suites.ts';
import { boundedTo } from '../../runtime/lru-bound.ts';
import { connectionKey, copyProxiedPeer } from '../../tunnel/network/peer.ts';
import { copyClientHello } from '../visitors/client-hellos.ts';

/** More names than can be between the choice of a context and its use, a turn of the event loop later. */
const NAMES = 10_000;

export interface HandshakeOptions {
  /** For visitors who name nobody, in PEM. */
  identity?: { cert: string; key: string };
  alpn?: string[];
  /** `TLSv1.2` when left out. */
  minVersion?: SecureVersion;
  maxVersion?: SecureVersion;
  /**
   * Whether visitors are asked for a certificate, and whether one that the context's authorities do not vouch for ends the
   * handshake. Sessions are not resumed then: who was let in once has to show that it still would be.
   */
  clientCertificates?: { isRequired: boolean };
}

export class Handshakes {
  readonly #server: Server;
  /** Whether visitors may offer sessions. */
  readonly #resumes: boolean;
  /** The context chosen last for a name; Node asks for it when it reads the ClientHello anew. */
  readonly #contexts = new LRUCache<string, SecureContext>(boundedTo(NAMES));
  /** What to do after each handshake under way, by both ends of its connection: Node does not say which socket it was. */
  readonly #underWay = new Map<string, (socket: TLSSocket) => void>();

  constructor({ identity, alpn, minVersion = 'TLSv1.2', maxVersion, clientCertificates }: HandshakeOptions) {
    this.#resumes = clientCertificates === undefined;
    this.#server = createServer({
      ...identity,
      ALPNProtocols: alpn,
      minVersion,
      maxVersion,
      ...SERVER_TLS,
      requestCert: clientCertificates !== undefined,
      rejectUnauthorized: clientCertificates?.isRequired === true,
      // A visitor of TLS 1.2 could otherwise become another one later, with a certificate that nobody verifies.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION | (clientCertificates ? constants.SSL_OP_NO_TICKET : 0),
      SNICallback: (name, callback) => callback(null, this.#contexts.get(name)),
    });
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      const onSecure = this.#underWay.get(connectionKey(socket));
      if (onSecure) guarded(() => void socket.destroy(), onSecure)(socket);
      else socket.destroy();
    });
    // The visitor's trouble. Node leaves it to us to close the socket.
    this.#server.on('tlsClientError', (_, socket) => socket.destroy());
  }

  setIdentity(identity: { cert: string; key: string }): void {
    this.#server.setSecureContext({ ...SERVER_TLS, ...identity, minVersion: 'TLSv1.2' });
  }

  /**
   * Speaks TLS on a socket. A handshake that fails closes it; how long one may take is the caller's to limit.
   * @param bytes what was read of it.
   * @param named the name in those bytes, as it was sent, and what to show for it.
   */
  begin(
    raw: Socket,
    bytes: Buffer,
    named: { name: string; context: SecureContext } | undefined,
    onSecure: (socket: TLSSocket) => void,
  ): void {
    if (named) this.#contexts.set(named.name, named.context);
    // An end in the middle of a handshake ends it; afterwards each half may end by itself.
    raw.allowHalfOpen = false;
    const reset = raw.resetAndDestroy.bind(raw);
    raw.resetAndDestroy = () => raw.destroy();
    const ends = connectionKey(raw);
    this.#underWay.set(ends, (socket) => {
      copyProxiedPeer(socket, raw);
      copyClientHello(socket, raw);
      socket.allowHalfOpen = true;
      // Who breaks off either socket means the TCP connection: TLS has no RST of its own. See `abort` for the exception.
      raw.resetAndDestroy = () => (isShuttingDown(socket) ? raw.destroy() : reset());
      socket.resetAndDestroy = () => {
        raw.resetAndDestroy();
        return socket;
      };
      onSecure(socket);
    });
    raw.once('close', () => this.#underWay.delete(ends));
    raw.unshift(bytes);
    this.#connect(raw, named?.context);
  }

  /**
   * Node begins with the context of the server, and goes over to that of the name when OpenSSL has already resumed whatever
   * session was offered: one that was agreed for any name. So it begins with that of the name. Where visitors are asked for
   * certificates no session is resumed, and what the server is told of them has to hold.
   */
  #connect(raw: Socket, context: SecureContext | undefined): void {
    const server: { _sharedCreds?: SecureContext } & Server = this.#server;
    const shared = server._sharedCreds;
    if (context && this.#resumes) server._sharedCreds = context;
    try {
      server.emit('connection', raw);
    } finally {
      server._sharedCreds = shared;
    }
  }
}

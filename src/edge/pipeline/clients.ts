// The client of each request on a connection: its other end or, where that is a trusted proxy, the client that the proxy
// names in the request.

import type { Socket } from 'node:net';
import { forwardedChain } from '../../http/forwarded.ts';
import type { Networks } from '../../net/networks.ts';
import { COLON, isWord } from '../codec/bytes.ts';
import { ForwardedFields } from '../codec/forwarded-request-head.ts';
import type { RequestHead } from '../codec/request-head.ts';
import { SocketInfo } from '../visitors/connection-info.ts';
import { UNKNOWN_VISITOR, visitorOf } from '../visitors/connections.ts';
import type { ListenerContext } from './listener-context.ts';

export interface RequestClient {
  readonly listener: ListenerContext;
  /** The connection, as one of theirs. */
  readonly connection: SocketInfo;
  /** The X-Forwarded fields for upstreams. */
  readonly fields: ForwardedFields;
}

export class ClientResolver {
  /** Whom the connection is from. */
  readonly own: RequestClient;
  readonly #socket: Socket;
  /** Undefined where the other end is no trusted proxy. */
  readonly #proxies: Networks | undefined;
  /** The `X-Forwarded-For` of the request before, and who it was: mostly the same ask again. */
  #said = '';
  #last: RequestClient;

  constructor(socket: Socket, listener: ListenerContext) {
    const visitor = visitorOf(socket, false) ?? UNKNOWN_VISITOR;
    const connection = new SocketInfo(socket, visitor, listener.services.time(), listener.admitted);
    this.own = { listener, connection, fields: new ForwardedFields(visitor.ip, listener.scheme) };
    this.#socket = socket;
    this.#proxies = listener.proxies?.has(visitor.ip) ? listener.proxies : undefined;
    this.#last = this.own;
  }

  /** Who asks with a request, whose head has to be there still. */
  of(head: RequestHead): RequestClient {
    if (!this.#proxies) return this.own;
    const said = forwardedFor(head);
    if (said === this.#said) return this.#last;
    this.#said = said;
    this.#last = this.#named(said, this.#proxies);
    return this.#last;
  }

  /**
   * Upstreams are told of the client, the trusted proxies that it came through, and the one that asks us. What is written
   * before the client is its own words, which go no further, as those of visitors without a proxy.
   */
  #named(said: string, proxies: Networks): RequestClient {
    const way = forwardedChain(said.split(','), proxies);
    const [client] = way;
    if (!client) return this.own;
    const { listener, connection } = this.own;
    const { visitor: proxy, startedAt } = connection;
    const visitor = { ...client, local: proxy.local, passthrough: false };
    // What has let in one client has not let in the others of the same proxy.
    const admitted = new Set(listener.admitted);
    const forwarded = [...way.map(({ ip }) => ip), proxy.ip].join(', ');
    return {
      listener,
      connection: new SocketInfo(this.#socket, visitor, startedAt, admitted, proxy),
      fields: new ForwardedFields(forwarded, listener.scheme),
    };
  }
}

/** All that a request has of it, in order (RFC 9110, section 5.3); it is among the lines that don't go on. */
function forwardedFor({ bytes, drops }: RequestHead): string {
  const values: string[] = [];
  for (let i = 0; i < drops.length; i += 2) {
    const start = drops[i] as number;
    const nameEnd = bytes.indexOf(COLON, start);
    if (!isWord(bytes, start, nameEnd, 'x-forwarded-for')) continue;
    values.push(bytes.toString('latin1', nameEnd + 1, (drops[i + 1] as number) - 2));
  }
  return values.join(',');
}

// The connections of visitors: how many there may be, and how they end with their listener.

import type { Socket } from 'node:net';
import { abortSocket } from '../../protocol/relay.ts';
import type { Visitor } from '../../tunnel/endpoints/endpoint.ts';
import { peerOf } from '../../tunnel/network/peer.ts';
import type { ConnectionLimit } from './connection-limit.ts';
import type { ConnectionSlot } from './connection-slots.ts';

/** The connections of one listener. */
export class VisitorConnections {
  readonly #limit: ConnectionLimit;
  readonly #sockets = new Set<Socket>();
  #onEmpty: (() => void) | undefined;

  constructor(limit: ConnectionLimit) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** Counts a connection until it is closed. @returns undefined, and counts nothing, where there are too many. */
  admit(socket: Socket): ConnectionSlot | undefined {
    const slot = this.#limit.admit(socket);
    if (!slot) return undefined;
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#onEmpty?.();
    });
    return slot;
  }

  /** Resolves when all are closed; those that are still open after `ms` are cut. */
  async end(ms: number): Promise<void> {
    if (this.#sockets.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const deadline = setTimeout(() => this.#sockets.forEach(abortSocket), ms);
    await empty;
    clearTimeout(deadline);
  }
}

/** Who is at the other end; undefined when it is gone already. */
export function visitorOf(socket: Socket, passthrough: boolean): Visitor | undefined {
  const peer = peerOf(socket);
  return peer && { ip: peer.ip, port: peer.port, local: peer.local, passthrough };
}

/** Whether the agent may be told the same of both: through a proxy, many come on one connection. */
export function isSameVisitor(one: Visitor, other: Visitor | undefined): boolean {
  return one === other || (one.ip === other?.ip && one.port === other.port);
}

/** A visitor who is gone already. */
export const UNKNOWN_VISITOR: Visitor = { ip: '', port: 0, local: { ip: '', port: 0 }, passthrough: false };

// The connections of visitors: how many there may be, and how they end with their listener.

import type { Socket } from 'node:net';
import { abort } from '../protocol/relay.ts';
import type { Visitor } from '../tunnel/endpoint.ts';

/** What all listeners share. */
export interface VisitorLimit {
  /** Connections that are open now. */
  open: number;
  max: number;
}

/** The connections of one listener. */
export class Visitors {
  readonly #limit: VisitorLimit;
  readonly #sockets = new Set<Socket>();
  #onEmpty: (() => void) | undefined;

  constructor(limit: VisitorLimit) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#sockets.size;
  }

  /** Counts a connection until it is closed. @returns false, and counts nothing, where there are too many. */
  admit(socket: Socket): boolean {
    if (this.#limit.open >= this.#limit.max) return false;
    this.#limit.open++;
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#limit.open--;
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#onEmpty?.();
    });
    return true;
  }

  /** Resolves when all are closed; those that are still open after `ms` are cut. */
  async end(ms: number): Promise<void> {
    if (this.#sockets.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const deadline = setTimeout(() => this.#sockets.forEach(abort), ms);
    await empty;
    clearTimeout(deadline);
  }
}

/** Who is at the other end; undefined when it is gone already. */
export function visitorOf(socket: Socket, passthrough: boolean): Visitor | undefined {
  const { remoteAddress, remotePort, localAddress = '', localPort = 0 } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return {
    ip: plain(remoteAddress),
    port: remotePort,
    local: { ip: plain(localAddress), port: localPort },
    passthrough,
  };
}

/** A visitor who is gone already. */
export const NOBODY: Visitor = { ip: '', port: 0, local: { ip: '', port: 0 }, passthrough: false };

/** An address of IPv4 as that. */
export const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '');

// The connections of the agent listener: how many there may be, and how many of those that have not authenticated.

import type { Socket } from 'node:net';
import { addressBlock } from './address-block.ts';
import { ipOf } from './peer.ts';

/**
 * Connections that have not authenticated, in all and of one address. Each is one for some round trips only; but all the
 * agents behind one address may come back at once.
 */
const STRANGERS_MAX = 1024;
const STRANGERS_PER_ADDRESS = 512;

/** What both a connection and TLS on it say of their ends. */
type Ends = Pick<Socket, 'remoteAddress' | 'remotePort'>;

interface Stranger {
  socket: Socket;
  /** By which it is found when it has authenticated. */
  key: string;
  ofAddress: Set<Stranger>;
}

export class AgentConnections {
  readonly #max: number;
  readonly #onRefused: () => void;
  readonly #all = new Set<Socket>();
  /** By their ends. Oldest first, as in the sets: the one that has had the most time goes when there are too many. */
  readonly #strangers = new Map<string, Stranger>();
  readonly #byAddress = new Map<string, Set<Stranger>>();

  /** @param max connections of the listener in all. @param onRefused told when one had to go, or was not taken. */
  constructor(max: number, onRefused: () => void) {
    this.#max = max;
    this.#onRefused = onRefused;
  }

  /** Takes a connection, for which an older stranger may have to go; or closes it, where only agents are there. */
  admit(socket: Socket): void {
    const block = addressBlock(ipOf(socket));
    const ofAddress = this.#byAddress.get(block) ?? new Set();
    if (ofAddress.size >= STRANGERS_PER_ADDRESS) this.#evict(ofAddress.values().next().value);
    else if (this.#strangers.size >= STRANGERS_MAX) this.#evict(this.#oldest);
    if (this.#all.size >= this.#max) this.#evict(this.#oldest);
    if (this.#all.size >= this.#max) {
      this.#onRefused();
      return void socket.destroy();
    }
    const stranger = { socket, key: keyOf(socket), ofAddress };
    this.#all.add(socket);
    this.#strangers.set(stranger.key, stranger);
    this.#byAddress.set(block, ofAddress.add(stranger));
    socket.once('close', () => {
      this.#all.delete(socket);
      this.#forget(stranger);
      if (ofAddress.size === 0 && this.#byAddress.get(block) === ofAddress) this.#byAddress.delete(block);
    });
  }

  /** A connection is an agent's, and a stranger no more. @param ends its own, or those of TLS on it. */
  authenticated(ends: Ends): void {
    this.#forget(this.#strangers.get(keyOf(ends)));
  }

  /** Closes all that are there. */
  close(): void {
    for (const socket of this.#all) socket.destroySoon();
  }

  get #oldest(): Stranger | undefined {
    return this.#strangers.values().next().value;
  }

  /** Another with the same ends may have come meanwhile. */
  #forget(stranger: Stranger | undefined): void {
    if (!stranger) return;
    if (this.#strangers.get(stranger.key) === stranger) this.#strangers.delete(stranger.key);
    stranger.ofAddress.delete(stranger);
  }

  /** That it is closed is told later; it counts no more from now on. */
  #evict(stranger: Stranger | undefined): void {
    if (!stranger) return;
    this.#forget(stranger);
    this.#all.delete(stranger.socket);
    this.#onRefused();
    stranger.socket.destroy();
  }
}

function keyOf({ remoteAddress, remotePort }: Ends): string {
  return `${remoteAddress} ${remotePort}`;
}

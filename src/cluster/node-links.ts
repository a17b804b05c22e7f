// The links of this node to all others. A link is opened when it is first used, and closed when nobody has used it for a while.

import type { NodeLink } from './node-link.ts';
import { type DialOptions, NodePeer } from './node-peer.ts';

/** How often idle links are looked for, in milliseconds. */
const SWEEP_MS = 10_000;

export class NodeLinks {
  readonly #options: DialOptions;
  readonly #peers = new Map<string, NodePeer>();
  readonly #sweep: NodeJS.Timeout;

  constructor(options: DialOptions) {
    this.#options = options;
    this.#sweep = setInterval(() => this.#closeIdle(), SWEEP_MS).unref();
  }

  /** The node, whether there is a link to it or not. @param address where it listens for other nodes. */
  peer(nodeId: string, address: string): NodePeer {
    const known = this.#peers.get(nodeId);
    if (known) {
      if (address !== '') known.address = address; // A link that the node has opened says nothing of its address.
      return known;
    }
    const peer = new NodePeer(nodeId, address, this.#options);
    this.#peers.set(nodeId, peer);
    return peer;
  }

  /** Adds a link that another node has opened. */
  accept(link: NodeLink): void {
    this.peer(link.nodeId, '').add(link);
  }

  /** The number of open links. */
  get size(): number {
    let size = 0;
    for (const { links } of this.#peers.values()) size += links.length;
    return size;
  }

  /** Closes all links. */
  close(): void {
    clearInterval(this.#sweep);
    for (const peer of this.#peers.values()) peer.close();
    this.#peers.clear();
  }

  #closeIdle(): void {
    for (const [nodeId, peer] of this.#peers) {
      peer.closeIdle();
      if (peer.links.length === 0 && !peer.isDialing) this.#peers.delete(nodeId);
    }
  }
}

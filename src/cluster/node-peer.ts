// Another node, and the links to it: one, and a second one while the first carries bulk transfers.

import type { Socket } from 'node:net';
import { dialLocalNode, dialNode, parseNodeAddress } from './dial-node.ts';
import type { LocalSockets } from './local-sockets.ts';
import type { NodeIdentity } from './node-identity.ts';
import { CallError, type LinkDeps, NodeLink } from './node-link.ts';

/** How long connecting may take, in milliseconds. */
const DIAL_TIMEOUT_MS = 1000;
/** After a failure, no visitor waits for another attempt for so long; milliseconds. */
const DIAL_PAUSE_MS = 250;
const LINKS_MAX = 2;
/** A link that carries nothing is closed after so long; milliseconds. */
const IDLE_MS = 60_000;

export interface DialOptions {
  /** The id of this node. */
  nodeId: string;
  /** The identity of this node, which may be renewed; undefined when nodes of other machines are not reached. */
  identity(): NodeIdentity | undefined;
  /** The sockets of the nodes of this machine; undefined when there is one only. */
  local: LocalSockets | undefined;
  deps: LinkDeps;
}

export class NodePeer {
  readonly nodeId: string;
  /** Where it listens for nodes of other machines, as `host:port`; '' when that is not known. */
  address: string;
  readonly links: NodeLink[] = [];
  readonly #options: DialOptions;
  readonly #onLinkClosed = new Set<() => void>();
  #dialing: Promise<NodeLink | undefined> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(nodeId: string, address: string, options: DialOptions) {
    this.nodeId = nodeId;
    this.address = address;
    this.#options = options;
  }

  get isDialing(): boolean {
    return this.#dialing !== undefined;
  }

  /** Whether the last attempt to reach it has failed a moment ago. */
  get isDown(): boolean {
    return this.links.length === 0 && performance.now() - this.#failedAt < DIAL_PAUSE_MS;
  }

  /** Calls the listener whenever a link is closed: what the node was to say over it is not heard. */
  onLinkClosed(listener: () => void): void {
    this.#onLinkClosed.add(listener);
  }

  /** The link for the next visit or call, which is opened when there is none. @returns undefined when it cannot be reached. */
  async link(): Promise<NodeLink | undefined> {
    const [first, ...others] = this.links;
    if (!first) return this.isDown ? undefined : this.#dial();
    const best = others.reduce((least, link) => (link.recentBytes < least.recentBytes ? link : least), first);
    if (best.isBulk && this.links.length < LINKS_MAX) void this.#dial();
    return best;
  }

  /** Calls a method of the node. @throws {CallError} when it cannot be reached, does not answer in time or answers with an error. */
  async call(method: string, body: object, timeoutMs: number): Promise<object> {
    const link = await this.link();
    if (!link) throw new CallError(`node ${this.nodeId} cannot be reached`);
    return link.call(method, body, timeoutMs);
  }

  /** Adds a link that is open. */
  add(link: NodeLink): void {
    if (this.#isClosed || link.isClosed) return void link.close();
    this.links.push(link);
    this.#options.deps.counters.opened++;
    link.onClosed(() => {
      this.links.splice(this.links.indexOf(link), 1);
      for (const listener of this.#onLinkClosed) listener();
    });
  }

  closeIdle(): void {
    for (const link of [...this.links]) if (link.isIdleFor(IDLE_MS)) link.close();
  }

  close(): void {
    this.#isClosed = true;
    for (const link of [...this.links]) link.close();
  }

  /** Attempts are shared: whoever comes meanwhile waits for the same one. */
  #dial(): Promise<NodeLink | undefined> {
    this.#dialing ??= this.#connect().finally(() => {
      this.#dialing = undefined;
    });
    return this.#dialing;
  }

  async #connect(): Promise<NodeLink | undefined> {
    const { deps } = this.#options;
    try {
      const link = new NodeLink(await this.#openSocket(), this.nodeId, 'client', deps);
      this.add(link);
      return link;
    } catch (error) {
      this.#failedAt = performance.now();
      deps.counters.failed++;
      deps.onFailure(this.nodeId, error);
      return undefined;
    }
  }

  #openSocket(): Promise<Socket> {
    const { nodeId, identity, local } = this.#options;
    if (local?.has(this.nodeId)) return dialLocalNode(local, this.nodeId, nodeId, DIAL_TIMEOUT_MS);
    const own = identity();
    const address = parseNodeAddress(this.address);
    if (!own || !address) throw new CallError(`the address of node ${this.nodeId} is not known`);
    return dialNode(address, this.nodeId, own, DIAL_TIMEOUT_MS);
  }
}

// The tunnels of other nodes that this node knows. A tunnel is described by its node when its first visitor comes, and known until
// that node says that it has changed, or the link to the node is lost.

import { LRUCache } from 'lru-cache';
import { boundedTo } from '../runtime/lru-bound.ts';
import type { TunnelRoute } from '../tunnel/control/routes.ts';
import type { Proto } from '../tunnel/endpoints/endpoint.ts';
import type { TunnelModules } from '../tunnel/tunnel-modules.ts';
import {
  CHANGED,
  type ChangedRequest,
  DESCRIBE,
  type DescribeRequest,
  type DescribeResponse,
  type TunnelDescription,
} from './descriptions.ts';
import type { CallHandler } from './node-link.ts';
import type { NodeLinks } from './node-links.ts';
import type { NodePeer } from './node-peer.ts';
import { RemoteMeters } from './remote-meters.ts';
import { RemoteTunnel, type Reroute } from './remote-tunnel.ts';

/** The most tunnels that are known. Those of others are described again. */
const KNOWN_MAX = 10_000;
const DESCRIBE_TIMEOUT_MS = 2000;
/** How often a tunnel is described again that has changed meanwhile. */
const ATTEMPTS_MAX = 3;

export interface RemoteTunnelsDeps {
  links: NodeLinks;
  modules: Pick<TunnelModules, 'make'>;
  reroute: Reroute;
  /** Called when the modules of a tunnel cannot be made here. */
  onFailure(tunnelId: string, error: unknown): void;
  /** A monotonic clock, in milliseconds. */
  now(): number;
}

/** A description that is being asked for. */
interface PendingTunnel {
  tunnel: Promise<RemoteTunnel | undefined>;
  /** Whether the tunnel has changed since it was asked for. */
  isStale: boolean;
}

export class RemoteTunnels {
  readonly meters: RemoteMeters;
  readonly #deps: RemoteTunnelsDeps;
  readonly #known = new LRUCache<string, RemoteTunnel>({
    ...boundedTo(KNOWN_MAX),
    dispose: (tunnel) => tunnel.close(),
  });
  readonly #pending = new Map<string, PendingTunnel>();
  /** The nodes whose links are watched. */
  readonly #watched = new WeakSet<NodePeer>();

  constructor(deps: RemoteTunnelsDeps) {
    this.#deps = deps;
    this.meters = new RemoteMeters(deps.now);
  }

  /** The handlers of the calls of other nodes. */
  readonly methods: [method: string, handler: CallHandler][] = [
    [
      CHANGED,
      async (body, { nodeId }) => {
        for (const tunnelId of (body as ChangedRequest).tunnelIds) this.#forget(nodeId, tunnelId);
        return {};
      },
    ],
  ];

  /** The number of known tunnels. */
  get size(): number {
    return this.#known.size;
  }

  /** Whether a tunnel can be used without asking its node. */
  isKnown(route: TunnelRoute, proto: Proto): boolean {
    return this.#known.peek(keyOf(route.node.id, route.tunnelId, proto))?.isOpen === true;
  }

  /**
   * The tunnel of a route.
   * @param proto as which kind of endpoint a labelled tunnel serves; others serve as what they are.
   * @returns undefined when its node has no such tunnel, or cannot be reached.
   */
  get({ tunnelId, node }: TunnelRoute, proto: Proto): Promise<RemoteTunnel | undefined> {
    const key = keyOf(node.id, tunnelId, proto);
    const known = this.#known.get(key);
    if (known?.isOpen) return Promise.resolve(known);
    const pending = this.#pending.get(key);
    if (pending) return pending.tunnel;
    const entry: PendingTunnel = { tunnel: Promise.resolve(undefined), isStale: false };
    this.#pending.set(key, entry);
    entry.tunnel = this.#learn(key, entry, this.#deps.links.peer(node.id, node.address), { tunnelId, proto }).finally(
      () => this.#pending.delete(key),
    );
    return entry.tunnel;
  }

  async #learn(
    key: string,
    entry: PendingTunnel,
    peer: NodePeer,
    request: DescribeRequest,
  ): Promise<RemoteTunnel | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      entry.isStale = false;
      const description = await this.#describe(peer, request);
      const tunnel = description && (await this.#make(description, peer));
      if (!tunnel) return undefined;
      if (entry.isStale || peer.links.length === 0) continue;
      this.#known.set(key, tunnel);
      this.#watch(peer);
      return tunnel;
    }
    return undefined;
  }

  async #describe(peer: NodePeer, request: DescribeRequest): Promise<TunnelDescription | null> {
    const response = await peer.call(DESCRIBE, request, DESCRIBE_TIMEOUT_MS).catch(() => ({ tunnel: null }));
    return (response as DescribeResponse).tunnel;
  }

  async #make(description: TunnelDescription, peer: NodePeer): Promise<RemoteTunnel | undefined> {
    const { accountId, proto, tls, modules, acl, tunnelId } = description;
    try {
      const hasModules = Object.keys(modules).length > 0;
      const tunnel = { accountId, proto, tls, allowance: { acl }, tunnelId };
      const rules = hasModules ? await this.#deps.modules.make(modules, tunnel) : undefined;
      return new RemoteTunnel(description, rules, this.meters.meterOf(description), peer, this.#deps.reroute);
    } catch (error) {
      this.#deps.onFailure(description.tunnelId, error);
      return undefined;
    }
  }

  /** Forgets the tunnels of a node when it cannot tell any more that they have changed. */
  #watch(peer: NodePeer): void {
    if (this.#watched.has(peer)) return;
    this.#watched.add(peer);
    peer.onLinkClosed(() => {
      for (const entry of this.#pending.values()) entry.isStale = true;
      for (const [key, tunnel] of [...this.#known.entries()])
        if (tunnel.nodeId === peer.nodeId) this.#known.delete(key);
    });
  }

  #forget(nodeId: string, tunnelId: string): void {
    for (const proto of ['', 'https', 'tls']) {
      const key = `${nodeId} ${tunnelId} ${proto}`;
      const pending = this.#pending.get(key);
      if (pending) pending.isStale = true;
      this.#known.delete(key);
    }
  }
}

function keyOf(nodeId: string, tunnelId: string, proto: Proto): string {
  return `${nodeId} ${tunnelId} ${proto === 'http' || proto === 'tcp' ? '' : proto}`;
}

// Labelled tunnels, which have no address, and the groups of them that edges select by labels.

import type { MuxSession } from '../../protocol/mux/mux-session.ts';
import { type Labels, type LiveEndpoint, matchesLabels } from './endpoint.ts';
import { LiveTunnel } from './live-tunnel.ts';
import { newTunnelLoad, type StreamSlots } from './stream-slots.ts';

/** The kind of edge, as the proxy header to the agent names it. */
export type EdgeProto = 'https' | 'tls' | 'tcp';

/** The properties of a labelled tunnel. */
export interface LabelledTunnelSettings {
  tunnelId: string;
  accountId: string;
  labels: Labels;
  upstreamProtocol: LiveEndpoint['upstreamProtocol'];
  sharesConnections: boolean;
  forwardsTo: string;
}

/** A tunnel that serves edges of every kind. */
export class LabelledTunnel {
  readonly tunnelId: string;
  readonly accountId: string;
  readonly labels: Labels;
  readonly upstreamProtocol: LiveEndpoint['upstreamProtocol'];
  readonly #endpoints: Record<EdgeProto, LiveTunnel>;

  constructor(
    { tunnelId, accountId, labels, upstreamProtocol, sharesConnections, forwardsTo }: LabelledTunnelSettings,
    session: MuxSession,
    slots: StreamSlots,
  ) {
    this.tunnelId = tunnelId;
    this.accountId = accountId;
    this.labels = labels;
    this.upstreamProtocol = upstreamProtocol;
    const load = newTunnelLoad();
    const newEndpoint = (proto: EdgeProto) => {
      // The hostname must be unique, because idle streams to upstreams are cached by host name.
      const address = { id: tunnelId, tunnelId, accountId, proto, hostname: tunnelId, port: 0, publicUrl: '' };
      return new LiveTunnel(
        { ...address, proxyProtocol: 0, upstreamProtocol, sharesConnections, forwardsTo, tls: 'passthrough' },
        session,
        slots,
        load,
      );
    };
    this.#endpoints = { https: newEndpoint('https'), tls: newEndpoint('tls'), tcp: newEndpoint('tcp') };
  }

  /** The endpoint for visitors of one kind of edge. It is the same object each time. */
  endpointFor(proto: EdgeProto): LiveEndpoint {
    return this.#endpoints[proto];
  }

  /** Refuses new streams. Open streams continue. */
  close(): void {
    for (const endpoint of Object.values(this.#endpoints)) endpoint.close();
  }

  /** As `LiveTunnel.leave`. */
  leave(): void {
    for (const endpoint of Object.values(this.#endpoints)) endpoint.leave();
  }

  /** Takes new streams again. */
  reopen(): void {
    for (const endpoint of Object.values(this.#endpoints)) endpoint.reopen();
  }
}

/** The labelled tunnels of this node. */
export class LabelledTunnels {
  /** Lists are immutable. A change replaces the list, so that groups detect it by identity. */
  readonly #byAccount = new Map<string, readonly LabelledTunnel[]>();
  readonly #byTunnelId = new Map<string, LabelledTunnel>();
  readonly #onRemoved = new Set<(tunnelId: string) => void>();

  byTunnelId(tunnelId: string): LabelledTunnel | undefined {
    return this.#byTunnelId.get(tunnelId);
  }

  /** Calls the listener when a tunnel is closed. */
  onRemoved(listener: (tunnelId: string) => void): void {
    this.#onRemoved.add(listener);
  }

  /** The accounts that have any. */
  get accountIds(): string[] {
    return [...this.#byAccount.keys()];
  }

  ofAccount(accountId: string): readonly LabelledTunnel[] {
    return this.#byAccount.get(accountId) ?? NONE;
  }

  add(tunnel: LabelledTunnel): void {
    this.#byTunnelId.set(tunnel.tunnelId, tunnel);
    this.#byAccount.set(tunnel.accountId, [...this.ofAccount(tunnel.accountId), tunnel]);
  }

  remove(tunnel: LabelledTunnel): void {
    const remaining = this.ofAccount(tunnel.accountId).filter((other) => other !== tunnel);
    if (remaining.length > 0) this.#byAccount.set(tunnel.accountId, remaining);
    else this.#byAccount.delete(tunnel.accountId);
    // Another session of the agent may serve the tunnel, too.
    const alike = remaining.findLast(({ tunnelId }) => tunnelId === tunnel.tunnelId);
    if (alike) this.#byTunnelId.set(tunnel.tunnelId, alike);
    else this.#byTunnelId.delete(tunnel.tunnelId);
    for (const listener of this.#onRemoved) listener(tunnel.tunnelId);
  }
}

const NONE: readonly LabelledTunnel[] = [];

/** The live tunnels of an account that match a selector, in round robin. */
export class TunnelGroup {
  readonly #tunnels: LabelledTunnels;
  readonly #accountId: string;
  readonly #selector: Labels;
  #all = NONE;
  #members = NONE;
  #next = 0;

  constructor(tunnels: LabelledTunnels, accountId: string, selector: Labels) {
    this.#tunnels = tunnels;
    this.#accountId = accountId;
    this.#selector = selector;
  }

  /** The endpoint of the next tunnel; undefined when none is live. */
  pick(proto: EdgeProto): LiveEndpoint | undefined {
    const all = this.#tunnels.ofAccount(this.#accountId);
    if (all !== this.#all) {
      this.#all = all;
      this.#members = all.filter(({ labels }) => matchesLabels(this.#selector, labels));
    }
    if (this.#members.length === 0) return undefined;
    this.#next = (this.#next + 1) % this.#members.length;
    return this.#members[this.#next]?.endpointFor(proto);
  }
}

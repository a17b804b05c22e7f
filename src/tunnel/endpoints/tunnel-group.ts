// Tunnels without an address, which edges choose by their labels, and the groups that they are chosen into.

import type { MuxSession } from '../../protocol/mux/mux-session.ts';
import { type Labels, type LiveEndpoint, matchesLabels } from './endpoint.ts';
import { LiveTunnel } from './live-tunnel.ts';
import { newTunnelLoad, type StreamSlots } from './stream-slots.ts';

/** The kind of edge that a visitor came to, as the agent is told. */
export type EdgeProto = 'https' | 'tls';

/** What is known of a labelled tunnel when it is bound. */
export interface LabelledTunnelSettings {
  tunnelId: string;
  accountId: string;
  labels: Labels;
  upstreamProtocol: LiveEndpoint['upstreamProtocol'];
}

/** One way to an agent, for edges of every kind. */
export class LabelledTunnel {
  readonly accountId: string;
  readonly labels: Labels;
  readonly #ways: Record<EdgeProto, LiveTunnel>;

  constructor(
    { tunnelId, accountId, labels, upstreamProtocol }: LabelledTunnelSettings,
    session: MuxSession,
    slots: StreamSlots,
  ) {
    this.accountId = accountId;
    this.labels = labels;
    const load = newTunnelLoad();
    const way = (proto: EdgeProto) => {
      // In place of a name it has what no other tunnel has, as streams are kept from one request to the next by names.
      const place = { id: tunnelId, tunnelId, accountId, proto, hostname: tunnelId, port: 0, publicUrl: '' };
      return new LiveTunnel({ ...place, proxyProtocol: 0, upstreamProtocol, tls: 'passthrough' }, session, slots, load);
    };
    this.#ways = { https: way('https'), tls: way('tls') };
  }

  /** As an endpoint, for the visitors of one kind of edge; the same object each time. */
  endpointFor(proto: EdgeProto): LiveEndpoint {
    return this.#ways[proto];
  }

  /** No visitor is let in any more; who is in stays. */
  close(): void {
    this.#ways.https.close();
    this.#ways.tls.close();
  }
}

/** The labelled tunnels of this node. */
export class LabelledTunnels {
  /** Lists are never changed, only replaced: whoever has an old one can tell. */
  readonly #byAccount = new Map<string, readonly LabelledTunnel[]>();

  ofAccount(accountId: string): readonly LabelledTunnel[] {
    return this.#byAccount.get(accountId) ?? NONE;
  }

  add(tunnel: LabelledTunnel): void {
    this.#byAccount.set(tunnel.accountId, [...this.ofAccount(tunnel.accountId), tunnel]);
  }

  remove(tunnel: LabelledTunnel): void {
    const left = this.ofAccount(tunnel.accountId).filter((other) => other !== tunnel);
    if (left.length > 0) this.#byAccount.set(tunnel.accountId, left);
    else this.#byAccount.delete(tunnel.accountId);
  }
}

const NONE: readonly LabelledTunnel[] = [];

/** The live tunnels of an account that have all pairs of a selector, taken in turn. */
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

  /** The tunnel whose turn it is; undefined when none is live. */
  pick(as: EdgeProto): LiveEndpoint | undefined {
    const all = this.#tunnels.ofAccount(this.#accountId);
    if (all !== this.#all) {
      this.#all = all;
      this.#members = all.filter(({ labels }) => matchesLabels(this.#selector, labels));
    }
    if (this.#members.length === 0) return undefined;
    this.#next = (this.#next + 1) % this.#members.length;
    return this.#members[this.#next]?.endpointFor(as);
  }
}

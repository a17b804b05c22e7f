// What one session serves: the calls by which its agent opens and closes tunnels.

import { Fields } from '../../protocol/messages/fields.ts';
import { type Bind, readBind, readLabelBind, writeBindResponse } from '../../protocol/messages/messages.ts';
import type { MuxSession } from '../../protocol/mux/mux-session.ts';
import { readUpstreamProtocol } from '../bind/bind-options.ts';
import { bindError, bindTunnel } from '../bind/bind-tunnel.ts';
import { AgentError } from '../control/agent-errors.ts';
import type { Labels } from '../endpoints/endpoint.ts';
import { endpointAddress } from '../endpoints/endpoint-registry.ts';
import { LiveTunnel } from '../endpoints/live-tunnel.ts';
import { StreamSlots } from '../endpoints/stream-slots.ts';
import { LabelledTunnel } from '../endpoints/tunnel-group.ts';
import type { RequestedModules } from '../tunnel-modules.ts';
import type { AdmittedSession, ServedTunnels, SessionDeps } from './session-types.ts';
import { checkTextLimit, FORWARDS_TO_MAX, METADATA_MAX, truncateText } from './text-limits.ts';

/** Tunnels of one session. */
const TUNNELS_MAX = 1000;
/** Labels of one tunnel, and the bytes that a key or a value may have: those of a backend's selector. */
const LABELS_MAX = 64;
const LABEL_MAX = 255;

/** What SDKs need to find in the options of an answer, whatever was asked. */
const EMPTY_OPTIONS = {
  Hostname: '',
  Auth: '',
  Subdomain: '',
  HostHeaderRewrite: false,
  ProxyProto: 0,
  MutualTLSAtAgent: false,
};

export class SessionTunnels implements ServedTunnels {
  readonly #deps: SessionDeps;
  readonly #mux: MuxSession;
  readonly #admitted: AdmittedSession;
  readonly #slots: StreamSlots;
  readonly #tunnels = new Map<string, LiveTunnel>();
  readonly #labelled = new Map<string, LabelledTunnel>();
  /** What those with an address have asked for. */
  readonly #modules = new Map<string, RequestedModules>();
  /** Binds that are being decided. */
  #binding = 0;

  constructor(deps: SessionDeps, mux: MuxSession, admitted: AdmittedSession) {
    this.#deps = { ...deps, tcpPorts: admitted.quota.tcpPorts };
    this.#mux = mux;
    this.#admitted = admitted;
    this.#slots = new StreamSlots(admitted.kind);
  }

  /** Those with an address. */
  get addressed(): LiveTunnel[] {
    return [...this.#tunnels.values()];
  }

  get labelled(): [tunnelId: string, labels: Labels][] {
    return [...this.#labelled].map(([tunnelId, { labels }]) => [tunnelId, labels]);
  }

  /** Answers a call that opens a tunnel. @throws {AgentError} why not. */
  async bind(request: object): Promise<object> {
    const bind = readBind(request);
    checkTexts(bind);
    return this.#withTunnelSlot(async () => {
      const bound = await bindTunnel(this.#deps, this.#admitted, bind);
      if (this.#mux.isClosed) {
        if (bound.proto === 'tcp') this.#deps.tcpPorts.release(bound.port, 0);
        throw bindError({ refused: 'sessionEnded' });
      }
      this.#close(bound.tunnelId, 0); // Bound again by the same session: the newer one counts.
      const tunnel = new LiveTunnel(bound, this.#mux, this.#slots);
      this.#tunnels.set(bound.tunnelId, tunnel);
      this.#modules.set(bound.tunnelId, bound.modules);
      this.#deps.endpoints.add(tunnel);
      return this.#describe(bind, tunnel);
    });
  }

  /** Answers a call that opens a tunnel for edges. @throws {AgentError} why not. */
  async bindLabels(request: object): Promise<object> {
    const { labels, forwardsTo, forwardsProto, metadata } = readLabelBind(request);
    const upstreamProtocol = readUpstreamProtocol(forwardsProto);
    checkTexts({ metadata, forwardsTo });
    checkLabels(labels);
    const { sessionId, accountId } = this.#admitted;
    return this.#withTunnelSlot(async () => {
      const bound = await this.#deps.registrar.bindLabels({ sessionId, labels, forwardsTo, metadata });
      if ('refused' in bound) throw bindError(bound);
      if (this.#mux.isClosed) throw bindError({ refused: 'sessionEnded' });
      const { tunnelId } = bound;
      const tunnel = new LabelledTunnel({ tunnelId, accountId, labels, upstreamProtocol }, this.#mux, this.#slots);
      this.#labelled.set(tunnelId, tunnel);
      this.#deps.endpoints.labelled.add(tunnel);
      return { Id: tunnelId, Error: '' };
    });
  }

  /**
   * Answers a call that closes a tunnel. Visitors who are in stay.
   * @param cause what made the agent do so, for people; left out when it does of its own accord.
   * @throws {AgentError} when it is none of this session.
   */
  async unbind(request: object, cause?: string): Promise<object> {
    const { id } = readTunnelPatch(request, 'Id');
    await this.#limited(() => this.stop(this.#requireTunnel(id), cause));
    return { Error: '', Extra: {} };
  }

  /** Answers a call that changes a tunnel. @throws {AgentError} when it is none of this session, or cannot be so. */
  async patch(request: object): Promise<object> {
    const { id, metadata, policy } = readTunnelPatch(request, 'TunnelId');
    const tunnel = this.#tunnels.get(this.#requireTunnel(id));
    if (metadata !== null) checkTextLimit('Metadata', metadata, METADATA_MAX);
    if (policy !== null && tunnel) {
      const modules = this.#deps.modules.withPolicy(this.#modules.get(id) ?? {}, policy);
      const { accountId, proto, tls } = tunnel;
      const { allowance } = this.#admitted;
      const handling = await this.#deps.modules.make(modules, { accountId, proto, tls, allowance });
      if (this.#tunnels.get(id) !== tunnel) throw new AgentError('noSuchTunnel', { id }); // Closed meanwhile.
      tunnel.handling = handling;
      this.#modules.set(id, modules);
    }
    if (metadata !== null) await this.#limited(() => this.#deps.registrar.tunnelChanged(id, { metadata }));
    return { Error: '' };
  }

  /** Closes one tunnel: first for visitors, then for the API. @param reason why; left out when its agent wants it so. */
  async stop(tunnelId: string, reason?: string): Promise<void> {
    this.#close(tunnelId, 0);
    await this.#deps.registrar.tunnelClosed(tunnelId, reason && truncateText(reason));
  }

  /** The session is over. @param keepMs how long its ports are kept. */
  closeAll(keepMs: number): void {
    this.#slots.close();
    for (const tunnelId of [...this.#tunnels.keys(), ...this.#labelled.keys()]) this.#close(tunnelId, keepMs);
  }

  #close(tunnelId: string, keepMs: number): void {
    const labelled = this.#labelled.get(tunnelId);
    if (labelled) {
      this.#labelled.delete(tunnelId);
      labelled.close();
      this.#deps.endpoints.labelled.remove(labelled);
    }
    const tunnel = this.#tunnels.get(tunnelId);
    if (!tunnel) return;
    this.#tunnels.delete(tunnelId);
    this.#modules.delete(tunnelId);
    tunnel.close();
    this.#deps.endpoints.remove(tunnel);
    if (tunnel.proto === 'tcp') this.#deps.tcpPorts.release(tunnel.port, keepMs);
  }

  #describe(bind: Bind, { tunnelId, publicUrl, proto, hostname, port }: LiveTunnel): object {
    const { accountId } = this.#admitted;
    const address = endpointAddress({ accountId, proto, hostname, port });
    const token = this.#deps.tokens.bindToken(accountId, tunnelId, address);
    const chosen = proto === 'tcp' ? { Addr: `${hostname}:${port}` } : { Hostname: hostname };
    const options = { ...EMPTY_OPTIONS, ...bind.options, ...chosen };
    return writeBindResponse({ id: tunnelId, url: publicUrl, token }, proto, options);
  }

  #requireTunnel(tunnelId: string): string {
    if (this.#tunnels.has(tunnelId) || this.#labelled.has(tunnelId)) return tunnelId;
    throw new AgentError('noSuchTunnel', { id: tunnelId });
  }

  /** In turn with the other calls of its account, so that no account has all of the database's time. */
  #limited<T>(work: () => Promise<T>): Promise<T> {
    return this.#admitted.quota.limitCalls(async () => this.#ifOpen(work));
  }

  #ifOpen<T>(work: () => Promise<T>): Promise<T> {
    if (this.#mux.isClosed) throw bindError({ refused: 'sessionEnded' });
    return work();
  }

  async #withTunnelSlot<T>(work: () => Promise<T>): Promise<T> {
    if (this.#tunnels.size + this.#labelled.size + this.#binding >= TUNNELS_MAX)
      throw new AgentError('tooManyTunnels', { max: TUNNELS_MAX });
    this.#binding++;
    try {
      return await this.#admitted.quota.bindQueue.run(async () => this.#ifOpen(work));
    } finally {
      this.#binding--;
    }
  }
}

function checkLabels(labels: Record<string, string>): void {
  const texts = Object.entries(labels).flat();
  if (texts.length === 0) throw new AgentError('noLabels');
  if (texts.length > 2 * LABELS_MAX)
    throw new AgentError('badText', { name: 'Labels', rule: `be at most ${LABELS_MAX}` });
  for (const text of texts) {
    checkTextLimit('Keys and values of labels', text, LABEL_MAX);
    if (text === '' || !text.isWellFormed())
      throw new AgentError('badText', { name: 'Keys and values of labels', rule: 'be texts of one character or more' });
  }
}

function checkTexts({ metadata, forwardsTo }: { metadata: string; forwardsTo: string }): void {
  checkTextLimit('Metadata', metadata, METADATA_MAX);
  checkTextLimit('ForwardsTo', forwardsTo, FORWARDS_TO_MAX);
}

export interface TunnelPatch {
  id: string;
  /** Null stays as it is. */
  metadata: string | null;
  policy: string | null;
}

/** @param idName how the call names the tunnel. */
export function readTunnelPatch(message: object, idName: 'Id' | 'TunnelId'): TunnelPatch {
  const fields = new Fields(message);
  return {
    id: fields.text(idName),
    metadata: fields.textOrNull('Metadata'),
    policy: fields.textOrNull('TrafficPolicy'),
  };
}

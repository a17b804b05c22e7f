// The tunnels of one session, and the calls by which its agent binds, changes and unbinds them.

import {
  type Bind,
  readBind,
  readLabelBind,
  writeBindResponse,
  writeLabelBindResponse,
} from '../../protocol/messages/messages.ts';
import type { MuxSession } from '../../protocol/mux/mux-session.ts';
import { readUpstreamProtocol } from '../bind/bind-options.ts';
import { bindError, bindTunnel } from '../bind/bind-tunnel.ts';
import { AgentError } from '../control/agent-errors.ts';
import type { Labels } from '../endpoints/endpoint.ts';
import { endpointAddress, hasTcpPort, INTERNAL_PORTS, isInternalName } from '../endpoints/endpoint-registry.ts';
import { LiveTunnel } from '../endpoints/live-tunnel.ts';
import { StreamSlots } from '../endpoints/stream-slots.ts';
import { LabelledTunnel } from '../endpoints/tunnel-group.ts';
import { checkLabels, labelsAddress } from './labels.ts';
import type { AdmittedSession, ServedTunnels, SessionDeps } from './session-types.ts';
import { checkBindTexts, checkTextLimit, METADATA_MAX, truncateText } from './text-limits.ts';
import { readTunnelPatch } from './tunnel-patch.ts';

/** The most tunnels of one session. */
const TUNNELS_MAX = 1000;

/** The members that SDKs require in the options of a response, whatever the request has. */
const EMPTY_OPTIONS = {
  Hostname: '',
  Auth: '',
  Subdomain: '',
  HostHeaderRewrite: false,
  ProxyProto: 0,
  MutualTLSAtAgent: false,
};

/** The tunnels of one session. */
export class SessionTunnels implements ServedTunnels {
  readonly #deps: SessionDeps;
  readonly #mux: MuxSession;
  readonly #admitted: AdmittedSession;
  readonly #slots: StreamSlots;
  readonly #tunnels = new Map<string, LiveTunnel>();
  readonly #labelled = new Map<string, LabelledTunnel>();
  /** Those that take no streams while the agent moves. A tunnel that is bound meanwhile is none of them. */
  readonly #suspended = new Set<LiveTunnel | LabelledTunnel>();
  /** The number of binds in progress. */
  #pendingBinds = 0;

  constructor(deps: SessionDeps, mux: MuxSession, admitted: AdmittedSession) {
    this.#deps = { ...deps, tcpPorts: admitted.quota.tcpPorts };
    this.#mux = mux;
    this.#admitted = admitted;
    this.#slots = new StreamSlots(admitted.kind);
  }

  /** The tunnels with an address. */
  get addressed(): LiveTunnel[] {
    return [...this.#tunnels.values()];
  }

  /** The tunnels with labels. */
  get labelled(): [tunnelId: string, labels: Labels][] {
    return [...this.#labelled].map(([tunnelId, { labels }]) => [tunnelId, labels]);
  }

  get isIdle(): boolean {
    return this.#slots.isIdle;
  }

  suspend(): void {
    for (const tunnel of this.#takeFromLookup()) tunnel.close();
  }

  leave(): void {
    for (const tunnel of this.#takeFromLookup()) tunnel.leave();
  }

  resume(): void {
    const { endpoints } = this.#deps;
    for (const tunnel of this.#suspended) {
      tunnel.reopen();
      if (tunnel instanceof LiveTunnel) endpoints.add(tunnel);
      else endpoints.labelled.add(tunnel);
    }
    this.#suspended.clear();
  }

  /** Closes a tunnel, and takes it from the lookup of endpoints; one that is suspended is taken from there already. */
  #withdraw(tunnel: LiveTunnel | LabelledTunnel): void {
    tunnel.close();
    if (!this.#suspended.delete(tunnel)) this.#remove(tunnel);
  }

  /** Takes all tunnels from the lookup of endpoints. @returns those that were in it. */
  #takeFromLookup(): (LiveTunnel | LabelledTunnel)[] {
    const listed = [...this.#tunnels.values(), ...this.#labelled.values()].filter((one) => !this.#suspended.has(one));
    for (const tunnel of listed) {
      this.#remove(tunnel);
      this.#suspended.add(tunnel);
    }
    return listed;
  }

  #remove(tunnel: LiveTunnel | LabelledTunnel): void {
    if (tunnel instanceof LiveTunnel) this.#deps.endpoints.remove(tunnel);
    else this.#deps.endpoints.labelled.remove(tunnel);
  }

  /** Answers a bind. @throws {AgentError} the reason of the refusal. */
  async bind(request: object): Promise<object> {
    const asked = readBind(request);
    const bind = { ...asked, name: truncateText(asked.name) };
    checkBindTexts(bind);
    return this.#withTunnelSlot(async () => {
      const bound = await bindTunnel(this.#deps, this.#admitted, bind);
      if (this.#mux.isClosed) {
        if (hasTcpPort(bound)) this.#deps.tcpPorts.release(bound.port, 0);
        throw bindError({ refused: 'sessionEnded' });
      }
      this.#close(bound.tunnelId, 0); // A new bind of the same tunnel by this session replaces the old one.
      const { sharesConnections } = this.#admitted.kind;
      const tunnel = new LiveTunnel({ ...bound, sharesConnections }, this.#mux, this.#slots);
      this.#tunnels.set(bound.tunnelId, tunnel);
      this.#deps.endpoints.add(tunnel);
      return this.#describe(bind, tunnel);
    });
  }

  /** Answers a label bind. @throws {AgentError} the reason of the refusal. */
  async bindLabels(request: object): Promise<object> {
    const { id, token, labels, forwardsTo, forwardsProto, metadata } = readLabelBind(request);
    const upstreamProtocol = readUpstreamProtocol(forwardsProto);
    checkBindTexts({ metadata, forwardsTo });
    checkLabels(labels);
    const { sessionId, accountId, kind } = this.#admitted;
    const { registrar, tokens } = this.#deps;
    const address = labelsAddress(labels);
    const resume = id !== '' && tokens.verifyBindToken(token, accountId, id, address) ? id : null;
    return this.#withTunnelSlot(async () => {
      const bound = await registrar.bindLabels({ sessionId, resume, labels, forwardsTo, metadata });
      if ('refused' in bound) throw bindError(bound);
      if (this.#mux.isClosed) throw bindError({ refused: 'sessionEnded' });
      const { tunnelId } = bound;
      this.#close(tunnelId, 0); // As in `bind`.
      const { sharesConnections } = kind;
      const settings = { tunnelId, accountId, labels, upstreamProtocol, sharesConnections, forwardsTo };
      const tunnel = new LabelledTunnel(settings, this.#mux, this.#slots);
      this.#labelled.set(tunnelId, tunnel);
      this.#deps.endpoints.labelled.add(tunnel);
      return writeLabelBindResponse({ id: tunnelId, token: tokens.bindToken(accountId, tunnelId, address) });
    });
  }

  /**
   * Answers an unbind. Connections of visitors that are open stay open.
   * @param cause the command that made the agent unbind, for people; left out when there was none.
   * @throws {AgentError} when this session has no such tunnel.
   */
  async unbind(request: object, cause?: string): Promise<object> {
    const { id } = readTunnelPatch(request, 'Id');
    await this.#runLimited(() => this.stop(this.#requireTunnel(id), cause));
    return { Error: '', Extra: {} };
  }

  /**
   * Answers a call that changes a tunnel.
   * @throws {AgentError} when this session has no such tunnel, or the change is invalid.
   */
  async patch(request: object): Promise<object> {
    const { id, metadata, policy } = readTunnelPatch(request, 'TunnelId');
    const tunnel = this.#tunnels.get(this.#requireTunnel(id));
    if (metadata !== null) checkTextLimit('Metadata', metadata, METADATA_MAX);
    if (policy !== null && tunnel) {
      const { accountId, proto, tls, requested } = tunnel;
      const modules = this.#deps.modules.withPolicy(requested?.modules ?? {}, policy);
      const { allowance } = this.#admitted;
      const rules = await this.#deps.modules.make(modules, { accountId, proto, tls, allowance, tunnelId: id });
      if (this.#tunnels.get(id) !== tunnel) throw new AgentError('noSuchTunnel', { id }); // It was closed meanwhile.
      tunnel.rules = rules;
      tunnel.requested = { modules, allowance };
      this.#deps.endpoints.reportChange(id);
    }
    if (metadata !== null) await this.#runLimited(() => this.#deps.registrar.tunnelChanged(id, { metadata }));
    return { Error: '' };
  }

  /**
   * Closes one tunnel, first for visitors and then in the API.
   * @param reason the reason; left out when the agent asked for it.
   */
  async stop(tunnelId: string, reason?: string): Promise<void> {
    this.#close(tunnelId, 0);
    await this.#deps.registrar.tunnelClosed(this.#admitted.sessionId, tunnelId, reason && truncateText(reason));
  }

  /** Closes all tunnels when the session ends. @param holdMs the time for which the TCP ports stay reserved. */
  closeAll(holdMs: number): void {
    this.#slots.close();
    for (const tunnelId of [...this.#tunnels.keys(), ...this.#labelled.keys()]) this.#close(tunnelId, holdMs);
  }

  #close(tunnelId: string, holdMs: number): void {
    const labelled = this.#labelled.get(tunnelId);
    if (labelled) {
      this.#labelled.delete(tunnelId);
      this.#withdraw(labelled);
    }
    const tunnel = this.#tunnels.get(tunnelId);
    if (!tunnel) return;
    this.#tunnels.delete(tunnelId);
    this.#withdraw(tunnel);
    if (hasTcpPort(tunnel)) this.#deps.tcpPorts.release(tunnel.port, holdMs);
  }

  #describe(bind: Bind, { tunnelId, publicUrl, proto, hostname, port }: LiveTunnel): object {
    const { accountId } = this.#admitted;
    const address = endpointAddress({ accountId, proto, hostname, port });
    const token = this.#deps.tokens.bindToken(accountId, tunnelId, address);
    const hostport = `${hostname}:${port}`;
    const hasOwnPort = isInternalName(hostname) && port !== INTERNAL_PORTS[proto];
    const chosen = proto === 'tcp' ? { Addr: hostport } : { Hostname: hasOwnPort ? hostport : hostname };
    const options = { ...EMPTY_OPTIONS, ...bind.options, ...chosen };
    return writeBindResponse({ id: tunnelId, url: publicUrl, token }, proto, options);
  }

  #requireTunnel(tunnelId: string): string {
    if (this.#tunnels.has(tunnelId) || this.#labelled.has(tunnelId)) return tunnelId;
    throw new AgentError('noSuchTunnel', { id: tunnelId });
  }

  /** Runs a task within the account's limit of concurrent calls, so that no account takes all of the database's time. */
  #runLimited<T>(task: () => Promise<T>): Promise<T> {
    return this.#admitted.quota.limitCalls(async () => this.#ifOpen(task));
  }

  #ifOpen<T>(task: () => Promise<T>): Promise<T> {
    if (this.#mux.isClosed) throw bindError({ refused: 'sessionEnded' });
    return task();
  }

  async #withTunnelSlot<T>(task: () => Promise<T>): Promise<T> {
    if (this.#tunnels.size + this.#labelled.size + this.#pendingBinds >= TUNNELS_MAX)
      throw new AgentError('tooManyTunnels', { max: TUNNELS_MAX });
    this.#pendingBinds++;
    try {
      return await this.#admitted.quota.bindQueue.run(async () => this.#ifOpen(task));
    } finally {
      this.#pendingBinds--;
    }
  }
}

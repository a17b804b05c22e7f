// A tunnel of the client: it is bound in every session, with retries, until it is closed.

import type {
  GatewayError,
  LabelTunnelSpec,
  Resumption,
  TunnelHandle,
  TunnelSpec,
  TunnelState,
} from '../gateway-client.ts';
import { writeLabels } from '../settings/labels.ts';
import { reconnectDelay, refusedTunnelDelay } from './backoff.ts';
import { BindRequests } from './bind-request.ts';
import { createCounters, type ForwardTarget } from './forward.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import type { GatewaySession } from './gateway-session.ts';
import { HostRefusals } from './host-refusals.ts';
import { OpenStreams } from './open-streams.ts';
import type { ClientTiming } from './timing.ts';
import { TunnelBind, TunnelBinds } from './tunnel-bind.ts';
import { readUpstream, type Upstream } from './upstream.ts';

/** The dependencies that all tunnels of a client share. */
export interface ClientTunnelDeps {
  timing: ClientTiming;
  /** The bound tunnels, by their id. */
  live: Map<string, ClientTunnel>;
  /** The closes in progress. */
  closing: Set<Promise<void>>;
  /** Called when a state has changed. */
  onChange(): void;
  onClosed(tunnel: ClientTunnel): void;
  log(level: 'info' | 'warn' | 'error', text: string, details?: Record<string, unknown>): void;
}

/** What helps against a service that refuses names which it does not know. */
const REMEDY =
  'start with --host-header rewrite, or set upstream.host_header in the file; policies have an action host-header';
const LABELS_REMEDY = 'set host_header in the module "upstream" of its routes';

/** One tunnel, over all sessions of its client. Several sessions may serve it at once. */
export class ClientTunnel implements TunnelHandle, ForwardTarget {
  readonly upstream: Upstream | undefined;
  readonly traffic = { fromSocket: 0, toSocket: 0 };
  readonly counters = createCounters(this.traffic);
  readonly streams = new OpenStreams();
  readonly answered: Promise<string>;
  readonly binds = new TunnelBinds();

  readonly #spec: TunnelSpec | LabelTunnelSpec;
  readonly #deps: ClientTunnelDeps;
  #state: TunnelState = 'pending';
  readonly #requests: BindRequests;
  #url: string | null = null;
  #error: GatewayError | null = null;
  #settleAnswered: { resolve(url: string): void; reject(error: Error): void } = { resolve() {}, reject() {} };
  #closing: Promise<void> | undefined;
  /** The last logged failure to connect to the upstream. */
  #dialFailure: string | null = null;
  /** Whether a refusal of the endpoint's name by its service was logged. */
  #isHostRefused = false;

  constructor(spec: TunnelSpec | LabelTunnelSpec, deps: ClientTunnelDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.#requests = new BindRequests(spec);
    this.answered = new Promise((resolve, reject) => {
      this.#settleAnswered = { resolve, reject };
    });
    this.answered.catch(() => {}); // A rejection that no caller awaits must not end the process.
    this.upstream = this.#readUpstream();
  }

  get state(): TunnelState {
    return this.#state;
  }

  get url(): string | null {
    return this.#url;
  }

  get legs(): number {
    return this.binds.bound;
  }

  /** Whether the gateway sends visitors. */
  get isLive(): boolean {
    return this.legs > 0;
  }

  get resumption(): Resumption | null {
    return 'labels' in this.#spec ? null : this.#requests.resumption;
  }

  get error(): GatewayError | null {
    return this.#error;
  }

  /** Binds the tunnel in a session, at once. */
  bind(session: GatewaySession): void {
    if (this.#state === 'closed' || !this.upstream) return;
    const bind = this.binds.get(session) ?? new TunnelBind(session);
    this.binds.set(session, bind);
    bind.cancelRetry();
    bind.pending = this.#bind(bind);
  }

  /** Handles the end of a session. The tunnel keeps its resumption, for the bind in the next session. */
  handleSessionLost(session: GatewaySession): void {
    const bind = this.binds.get(session);
    if (!bind) return;
    bind.cancelRetry();
    this.#unregister(bind);
    this.binds.delete(session);
    if (this.#state === 'active' && !this.isLive) this.#setState('pending', null);
  }

  /** Handles a stop of the tunnel by the gateway. It is for all sessions: the gateway stops each of them. */
  handleStopped(error: GatewayError): void {
    if (this.#state === 'closed') return;
    for (const bind of this.binds.values()) this.#unregister(bind);
    this.streams.resetAll();
    this.#setRefused(new GatewayRefusal(error));
    for (const bind of this.binds.values()) this.#retryRefused(bind);
  }

  onDial(failure: string | null): void {
    if (failure !== null && failure !== this.#dialFailure)
      this.#deps.log('warn', 'upstream unreachable', { to: this.#spec.forwardsTo, reason: failure });
    this.#dialFailure = failure;
  }

  watch(): HostRefusals | undefined {
    const spec = this.#spec;
    const isOfHttp = 'labels' in spec || ['http', 'https'].includes(spec.protocol);
    if (this.#isHostRefused || !isOfHttp || ('hostHeader' in spec && spec.hostHeader !== undefined)) return undefined;
    return new HostRefusals((by) => {
      if (this.#isHostRefused) return;
      this.#isHostRefused = true;
      this.#deps.log('warn', 'the service refuses the name of the endpoint', {
        ...{ to: spec.forwardsTo, by },
        remedy: 'labels' in spec ? LABELS_REMEDY : REMEDY,
      });
    });
  }

  close(): Promise<void> {
    const { closing } = this.#deps;
    const closed = this.#closing ?? this.#close().finally(() => closing.delete(closed));
    if (!this.#closing) closing.add(closed);
    this.#closing = closed;
    return closed;
  }

  /** Closes a tunnel that has no visitors, at once and without an unbind. */
  discard(): void {
    for (const bind of this.binds.values()) this.#unregister(bind);
    this.#setClosed();
  }

  #setClosed(): void {
    for (const bind of this.binds.values()) bind.cancelRetry();
    if (this.#state === 'closed') return;
    this.#setState('closed', null);
    this.#settleAnswered.reject(new Error('the tunnel was closed'));
    this.#deps.onClosed(this);
  }

  /** The upstream of the spec. For an invalid one it returns undefined: the tunnel is then refused and never bound. */
  #readUpstream(): Upstream | undefined {
    try {
      return readUpstream(this.#spec);
    } catch (error) {
      const message = `"${this.#spec.forwardsTo}" ${(error as Error).message}`;
      queueMicrotask(() => this.handleStopped({ code: '', message }));
      return undefined;
    }
  }

  async #close(): Promise<void> {
    const binds = [...this.binds.values()].map((bind) => ({ bind, wasBound: bind.isBound }));
    this.#setClosed();
    const unbind = async ({ bind, wasBound }: (typeof binds)[number]) => {
      await bind.pending; // A bind in progress sees the state `closed` and unbinds the tunnel.
      if (wasBound) await bind.unbind();
      this.#unregister(bind); // Not earlier: the gateway sends visitors until the unbind.
    };
    await Promise.all(binds.map(unbind));
    await this.streams.drain(this.#deps.timing.drain);
  }

  async #bind(bind: TunnelBind): Promise<void> {
    const { session } = bind;
    try {
      const tunnel = { isWanted: () => this.#state !== 'closed', isServed: () => this.isLive };
      const { tunnelId, url } = await this.#requests.send(session, tunnel);
      if (session.isClosed) return;
      bind.mayBeOrphaned = false;
      bind.tunnelId = tunnelId;
      if (this.#state === 'closed') await bind.unbind();
      else this.#activate(bind, 'labels' in this.#spec ? null : url);
    } catch (error) {
      if (session.isClosed || this.#state === 'closed') return;
      const orphaned = [...this.binds.values()].find(({ mayBeOrphaned }) => mayBeOrphaned);
      if (!(error instanceof GatewayRefusal) || error.isTransient) this.#fail(bind, error as Error);
      else if (error.isInUse && orphaned) {
        orphaned.session.destroy('the gateway serves a tunnel whose id is unknown');
        if (orphaned !== bind) this.#fail(bind, error);
      } else this.#refuse(bind, error);
    }
  }

  #activate(bind: TunnelBind, url: string | null): void {
    const spec = this.#spec;
    bind.refusals = 0;
    bind.failures = 0;
    this.#url = url;
    this.#deps.live.set(bind.tunnelId as string, this);
    const address = 'labels' in spec ? { labels: writeLabels(spec.labels) } : { url };
    const legs = this.legs > 1 ? { legs: this.legs } : {};
    this.#deps.log('info', 'tunnel active', { ...address, to: spec.forwardsTo, ...legs });
    this.#setState('active', null);
    this.#settleAnswered.resolve(url ?? '');
  }

  /** Handles a failure that is not the gateway's decision on the tunnel: no response, or a transient refusal. */
  #fail(bind: TunnelBind, error: Error): void {
    bind.mayBeOrphaned = !(error instanceof GatewayRefusal);
    bind.failures++;
    if (bind.failures === 1)
      this.#deps.log('warn', 'bind failed', { to: this.#spec.forwardsTo, reason: error.message });
    const retryAfter = error instanceof GatewayRefusal ? error.retryAfter : 0;
    const delay = reconnectDelay(bind.failures, Number.POSITIVE_INFINITY, this.#deps.timing);
    bind.retryAfter(retryAfter + delay, () => this.bind(bind.session));
  }

  /** Handles a refusal. A tunnel that another session serves stays active. */
  #refuse(bind: TunnelBind, refusal: GatewayRefusal): void {
    if (!this.isLive) this.#setRefused(refusal);
    else if (bind.refusals === 0) this.#logRefusal(refusal);
    this.#retryRefused(bind);
  }

  #setRefused(refusal: GatewayRefusal): void {
    const { code, message } = refusal;
    if (message !== this.#error?.message) this.#logRefusal(refusal);
    this.#setState('refused', { code, message });
    this.#settleAnswered.reject(refusal);
  }

  #logRefusal({ code, message }: GatewayRefusal): void {
    this.#deps.log('warn', 'tunnel refused', { to: this.#spec.forwardsTo, code, message });
  }

  #retryRefused(bind: TunnelBind): void {
    bind.refusals++;
    bind.retryAfter(refusedTunnelDelay(bind.refusals, this.#deps.timing), () => this.bind(bind.session));
  }

  #unregister(bind: TunnelBind): void {
    const { tunnelId } = bind;
    bind.tunnelId = undefined;
    if (tunnelId === undefined || this.#deps.live.get(tunnelId) !== this) return;
    if (![...this.binds.values()].some((other) => other.tunnelId === tunnelId)) this.#deps.live.delete(tunnelId);
  }

  #setState(state: TunnelState, error: GatewayError | null): void {
    this.#state = state;
    this.#error = error;
    this.#deps.onChange();
  }
}

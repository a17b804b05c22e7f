// A tunnel of the client: it is bound on every session, with retries, until it is closed.

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
import { type BindResult, requestBind } from './bind-request.ts';
import { createCounters, type ForwardTarget } from './forward.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import type { GatewaySession } from './gateway-session.ts';
import { OpenStreams } from './open-streams.ts';
import type { ClientTiming } from './timing.ts';
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

/** One tunnel, over all sessions of its client. */
export class ClientTunnel implements TunnelHandle, ForwardTarget {
  readonly upstream: Upstream | undefined;
  readonly traffic = { fromSocket: 0, toSocket: 0 };
  readonly counters = createCounters(this.traffic);
  readonly streams = new OpenStreams();
  readonly answered: Promise<string>;

  readonly #spec: TunnelSpec | LabelTunnelSpec;
  readonly #deps: ClientTunnelDeps;
  #state: TunnelState = 'pending';
  #resumption: Resumption | null;
  /** The id of the last bind. */
  #id: string | undefined;
  #url: string | null = null;
  #error: GatewayError | null = null;
  #settleAnswered: { resolve(url: string): void; reject(error: Error): void } = { resolve() {}, reject() {} };
  /** The session of the last bind request. */
  #session: GatewaySession | undefined;
  #pendingBind: Promise<void> = Promise.resolve();
  #retryTimer: NodeJS.Timeout | undefined;
  /** The numbers of consecutive refusals and consecutive failures. */
  #refusals = 0;
  #failures = 0;
  /** Set after a bind without a response: the gateway may serve the tunnel under an id that we do not know. */
  #mayBeOrphaned = false;
  #closing: Promise<void> | undefined;
  /** The last logged failure to connect to the upstream. */
  #dialFailure: string | null = null;

  constructor(spec: TunnelSpec | LabelTunnelSpec, deps: ClientTunnelDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.#resumption = 'labels' in spec ? null : spec.resume;
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

  /** Whether the gateway sends visitors. */
  get isLive(): boolean {
    return this.#id !== undefined && this.#deps.live.get(this.#id) === this;
  }

  get resumption(): Resumption | null {
    return this.#resumption;
  }

  get error(): GatewayError | null {
    return this.#error;
  }

  /** Binds the tunnel on a session, at once. */
  bind(session: GatewaySession): void {
    if (this.#state === 'closed' || !this.upstream) return;
    clearTimeout(this.#retryTimer);
    if (this.#session !== session) this.#mayBeOrphaned = false;
    this.#session = session;
    this.#pendingBind = this.#requestBind(session);
  }

  /** Handles the end of the session. The tunnel keeps its resumption, for the bind on the next session. */
  handleSessionLost(): void {
    clearTimeout(this.#retryTimer);
    this.#failures = 0;
    this.#unregister();
    if (this.#state === 'active') this.#setState('pending', null);
  }

  /** Handles a stop of the tunnel by the gateway. */
  handleStopped(error: GatewayError): void {
    if (this.#state === 'closed') return;
    this.#unregister();
    this.streams.resetAll();
    this.#refuse(new GatewayRefusal(error));
  }

  onDial(failure: string | null): void {
    if (failure !== null && failure !== this.#dialFailure)
      this.#deps.log('warn', 'upstream unreachable', { to: this.#spec.forwardsTo, reason: failure });
    this.#dialFailure = failure;
  }

  close(): Promise<void> {
    if (this.#closing) return this.#closing;
    const { closing } = this.#deps;
    const closed = this.#close().finally(() => closing.delete(closed));
    closing.add(closed);
    this.#closing = closed;
    return closed;
  }

  /** Closes a tunnel that has no visitors, at once and without an unbind. */
  discard(): void {
    this.#unregister();
    this.#setClosed();
  }

  #setClosed(): void {
    clearTimeout(this.#retryTimer);
    if (this.#state === 'closed') return;
    this.#setState('closed', null);
    this.#settleAnswered.reject(new Error('the tunnel was closed'));
    this.#deps.onClosed(this);
  }

  /** The upstream of the spec. For an invalid one it returns undefined: the tunnel is then refused and never bound. */
  #readUpstream(): Upstream | undefined {
    try {
      return readUpstream(this.#spec.forwardsTo);
    } catch (error) {
      const message = `"${this.#spec.forwardsTo}" ${(error as Error).message}`;
      queueMicrotask(() => this.handleStopped({ code: '', message }));
      return undefined;
    }
  }

  async #close(): Promise<void> {
    const wasLive = this.isLive;
    this.#setClosed();
    await this.#pendingBind; // A bind in progress sees the state `closed` and unbinds the tunnel.
    if (wasLive) await this.#unbind();
    this.#unregister(); // Not earlier: the gateway sends visitors until the unbind.
    await this.streams.drain(this.#deps.timing.drain);
  }

  async #requestBind(session: GatewaySession): Promise<void> {
    try {
      const bound = await requestBind(session, this.#spec, this.#resumption, () => this.#state !== 'closed');
      if (session.isClosed) return;
      this.#mayBeOrphaned = false;
      this.#id = bound.id;
      this.#resumption = bound.resumption;
      if (this.#state === 'closed') await this.#unbind();
      else this.#activate(bound);
    } catch (error) {
      if (session.isClosed || this.#state === 'closed') return;
      if (!(error instanceof GatewayRefusal) || error.isTransient) this.#fail(error as Error);
      else if (error.isInUse && this.#mayBeOrphaned) session.destroy('the gateway serves a tunnel whose id is unknown');
      else this.#refuse(error);
    }
  }

  async #unbind(): Promise<void> {
    // When this fails, the tunnel's visitors are still refused here.
    if (this.#id !== undefined) await this.#session?.unbind(this.#id).catch(() => {});
  }

  #activate({ id, resumption }: BindResult): void {
    const spec = this.#spec;
    const url = resumption?.url ?? null;
    this.#refusals = 0;
    this.#failures = 0;
    this.#url = url;
    this.#deps.live.set(id, this);
    const address = 'labels' in spec ? { labels: writeLabels(spec.labels) } : { url };
    this.#deps.log('info', 'tunnel active', { ...address, to: spec.forwardsTo });
    this.#setState('active', null);
    this.#settleAnswered.resolve(url ?? '');
  }

  /** Handles a failure that is not the gateway's decision on the tunnel: no response, or a transient refusal. */
  #fail(error: Error): void {
    this.#mayBeOrphaned = !(error instanceof GatewayRefusal);
    this.#failures++;
    if (this.#failures === 1)
      this.#deps.log('warn', 'bind failed', { to: this.#spec.forwardsTo, reason: error.message });
    const retryAfter = error instanceof GatewayRefusal ? error.retryAfter : 0;
    this.#retryAfter(retryAfter + reconnectDelay(this.#failures, Number.POSITIVE_INFINITY, this.#deps.timing));
  }

  #refuse(refusal: GatewayRefusal): void {
    const { code, message } = refusal;
    if (message !== this.#error?.message)
      this.#deps.log('warn', 'tunnel refused', { to: this.#spec.forwardsTo, code, message });
    this.#refusals++;
    this.#setState('refused', { code, message });
    this.#settleAnswered.reject(refusal);
    if (this.upstream) this.#retryAfter(refusedTunnelDelay(this.#refusals, this.#deps.timing));
  }

  #retryAfter(delay: number): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => {
      if (this.#session && !this.#session.isClosed) this.bind(this.#session);
    }, delay);
  }

  #unregister(): void {
    if (this.isLive) this.#deps.live.delete(this.#id as string);
  }

  #setState(state: TunnelState, error: GatewayError | null): void {
    this.#state = state;
    this.#error = error;
    this.#deps.onChange();
  }
}

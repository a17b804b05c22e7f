// A tunnel that is wanted: asked for on every session, again and again, until it is closed.

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

/** What tunnels share. */
export interface ClientTunnelDeps {
  timing: ClientTiming;
  /** Those that are served, by their id. */
  live: Map<string, ClientTunnel>;
  /** Those that are being closed. */
  closing: Set<Promise<void>>;
  onChange(): void;
  onClosed(tunnel: ClientTunnel): void;
  log(level: 'info' | 'warn' | 'error', text: string, details?: Record<string, unknown>): void;
}

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
  /** What the gateway called it last. */
  #id: string | undefined;
  #url: string | null = null;
  #error: GatewayError | null = null;
  #settle: { resolve(url: string): void; reject(error: Error): void } = { resolve() {}, reject() {} };
  /** The session that it was last asked for on. */
  #session: GatewaySession | undefined;
  #pendingBind: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  /** Refusals, and failures, in a row. */
  #refusals = 0;
  #failures = 0;
  /** An answer did not come: the gateway may serve it without our knowing the id. */
  #mayBeOrphaned = false;
  #closing: Promise<void> | undefined;
  /** The last failure to reach the upstream that was logged. */
  #dialFailure: string | null = null;

  constructor(spec: TunnelSpec | LabelTunnelSpec, deps: ClientTunnelDeps) {
    this.#spec = spec;
    this.#deps = deps;
    this.#resumption = 'labels' in spec ? null : spec.resume;
    this.answered = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.answered.catch(() => {}); // Not everybody asks.
    this.upstream = this.#readUpstream();
  }

  get state(): TunnelState {
    return this.#state;
  }

  get url(): string | null {
    return this.#url;
  }

  /** Whether visitors come in. */
  get isLive(): boolean {
    return this.#id !== undefined && this.#deps.live.get(this.#id) === this;
  }

  get resumption(): Resumption | null {
    return this.#resumption;
  }

  get error(): GatewayError | null {
    return this.#error;
  }

  /** Asks for it on this session, now. */
  bind(session: GatewaySession): void {
    if (this.#state === 'closed' || !this.upstream) return;
    clearTimeout(this.#retry);
    if (this.#session !== session) this.#mayBeOrphaned = false;
    this.#session = session;
    this.#pendingBind = this.#requestBind(session);
  }

  /** Its session is over. What it was is kept, to be asked for again. */
  handleSessionLost(): void {
    clearTimeout(this.#retry);
    this.#failures = 0;
    this.#unregister();
    if (this.#state === 'active') this.#become('pending', null);
  }

  /** The gateway has stopped it. */
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

  /** Ends it at once, as one that serves nobody: it is not asked for any more. */
  discard(): void {
    this.#unregister();
    this.#retire();
  }

  #retire(): void {
    clearTimeout(this.#retry);
    if (this.#state === 'closed') return;
    this.#become('closed', null);
    this.#settle.reject(new Error('the tunnel was closed'));
    this.#deps.onClosed(this);
  }

  /** Undefined where there is no such place; the tunnel is refused then, and never asked for. */
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
    this.#retire();
    await this.#pendingBind; // What is under way finds it closed, and unbinds it.
    if (wasLive) await this.#unbind();
    this.#unregister(); // Not before: until the gateway knows, visitors come.
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
      else if (error.isInUse && this.#mayBeOrphaned) session.destroy('a tunnel was lost sight of');
      else this.#refuse(error);
    }
  }

  async #unbind(): Promise<void> {
    // Where it fails, its visitors are refused here all the same.
    if (this.#id !== undefined) await this.#session?.unbind(this.#id).catch(() => {});
  }

  #activate({ id, resumption }: BindResult): void {
    const spec = this.#spec;
    const url = resumption?.url ?? null;
    this.#refusals = 0;
    this.#failures = 0;
    this.#url = url;
    this.#deps.live.set(id, this);
    const what = 'labels' in spec ? { labels: writeLabels(spec.labels) } : { url };
    this.#deps.log('info', 'tunnel active', { ...what, to: spec.forwardsTo });
    this.#become('active', null);
    this.#settle.resolve(url ?? '');
  }

  /** There was no answer, or none that says anything about the tunnel. */
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
    this.#become('refused', { code, message });
    this.#settle.reject(refusal);
    if (this.upstream) this.#retryAfter(refusedTunnelDelay(this.#refusals, this.#deps.timing));
  }

  #retryAfter(delay: number): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      if (this.#session && !this.#session.isClosed) this.bind(this.#session);
    }, delay);
  }

  #unregister(): void {
    if (this.isLive) this.#deps.live.delete(this.#id as string);
  }

  #become(state: TunnelState, error: GatewayError | null): void {
    this.#state = state;
    this.#error = error;
    this.#deps.onChange();
  }
}

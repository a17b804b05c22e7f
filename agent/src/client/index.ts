// The client of the gateway: one session, which is renewed for as long as the client is open, and its tunnels.

import type {
  ClientOptions,
  ClientState,
  ClientStatus,
  GatewayClient,
  GatewayError,
  LabelTunnelSpec,
  SessionIdentity,
  TunnelHandle,
  TunnelSpec,
} from '../gateway-client.ts';
import { reconnectDelay, refusedSessionDelay } from './backoff.ts';
import { ClientTunnel, type ClientTunnelDeps } from './client-tunnel.ts';
import { dial } from './dial.ts';
import { forward } from './forward.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import { GatewaySession, type GatewaySessionDeps } from './gateway-session.ts';
import { type ClientTiming, DEFAULT_TIMING } from './timing.ts';
import { waitAtMost } from './wait-at-most.ts';

export type { ClientTiming } from './timing.ts';

/**
 * Creates a client that connects at once and reconnects until it is closed.
 * @param timing values that differ from the defaults.
 */
export function createClient(options: ClientOptions, timing: Partial<ClientTiming> = {}): GatewayClient {
  return new Client(options, { ...DEFAULT_TIMING, ...timing });
}

/** The pause before the next attempt to connect. */
interface RetryPause {
  delay: number;
  state: ClientState;
}

const NO_PAUSE: RetryPause = { delay: 0, state: 'connecting' };

class Client implements GatewayClient {
  readonly #options: ClientOptions;
  readonly #timing: ClientTiming;
  readonly #sessionDeps: GatewaySessionDeps;
  readonly #tunnelDeps: ClientTunnelDeps;
  readonly #tunnels = new Set<ClientTunnel>();
  readonly #shutdown = new AbortController();
  /** Resolves when the connection loop has ended. */
  readonly #loop: Promise<void>;
  #closing: Promise<void> | undefined;

  #identity: SessionIdentity | null;
  #session: GatewaySession | null = null;
  #sessions = 0;
  /** The number of consecutive sessions that failed or ended early. */
  #failures = 0;
  #lastSession = Number.NEGATIVE_INFINITY;

  #state: ClientState = 'connecting';
  #error: GatewayError | null = null;
  #since: number;
  #retryAt: number | null = null;
  #wake: () => void = () => {};

  constructor(options: ClientOptions, timing: ClientTiming) {
    this.#options = options;
    this.#timing = timing;
    this.#identity = options.identity;
    this.#since = timing.now();
    const { log, onChange, addresses } = options;
    const onClosed = (tunnel: ClientTunnel) => void this.#tunnels.delete(tunnel);
    this.#tunnelDeps = { timing, live: new Map(), closing: new Set(), onChange, onClosed, log };
    const forwardDeps = {
      find: (id: string) => this.#tunnelDeps.live.get(id),
      // The tunnel is left over from a bind without a response, or is being closed.
      onUnknown: (id: string) => void this.#session?.unbind(id).catch(() => {}),
      addresses,
      connectTimeout: timing.upstream,
    };
    this.#sessionDeps = {
      options,
      timing,
      onVisitor: (stream, rest) => forward(stream, rest, forwardDeps),
      // The response to its bind may have arrived in the same read, with its promise still pending.
      onStopTunnel: ({ id, message, errorCode }) =>
        void setImmediate(() => this.#tunnelDeps.live.get(id)?.handleStopped({ code: errorCode, message })),
    };
    // The loop starts asynchronously, so that no callback runs before the caller has the client.
    this.#loop = Promise.resolve().then(() => this.#run());
  }

  get status(): ClientStatus {
    // Instants are of the monotonic clock. They are converted with the current wall clock, which may have been set since.
    const { now } = this.#timing;
    const asDate = (instant: number) => Date.now() + Math.round(instant - now());
    return {
      state: this.#state,
      since: asDate(this.#since),
      error: this.#error,
      retryAt: this.#retryAt === null ? null : asDate(this.#retryAt),
      latencyMs: this.#session?.latencyMs ?? null,
      sessions: this.#sessions,
    };
  }

  open(spec: TunnelSpec | LabelTunnelSpec): TunnelHandle {
    if (this.#shutdown.signal.aborted) throw new Error('the client is closed');
    const tunnel = new ClientTunnel(spec, this.#tunnelDeps);
    this.#tunnels.add(tunnel);
    if (this.#session) tunnel.bind(this.#session);
    else if (this.#state === 'waiting') this.#wake(); // A new tunnel ends the pause, as its caller waits for it.
    return tunnel;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#shutdown.abort();
    this.#wake();
    for (const tunnel of [...this.#tunnels]) {
      if (tunnel.isLive) void tunnel.close();
      else tunnel.discard();
    }
    // The wait is limited, as the gateway may not answer.
    await waitAtMost(this.#timing.drain, Promise.all(this.#tunnelDeps.closing));
    await this.#session?.close();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#shutdown;
    while (!signal.aborted) {
      this.#setState('connecting', this.#error);
      const { delay, state } = await this.#attempt().catch((error: Error) => this.#afterFailure(error));
      if (delay > 0 && !signal.aborted) await this.#pause(delay, state);
    }
    this.#setState('closed', null);
  }

  /** Runs one session, from the connection to its end. @throws {Error} when the session cannot be opened. */
  async #attempt(): Promise<RetryPause> {
    const { gateway, ca } = this.#options;
    const socket = await dial({ ...gateway, ca }, this.#timing, this.#shutdown.signal);
    const session = new GatewaySession(socket, this.#sessionDeps);
    const closeSession = () => void session.close();
    this.#shutdown.signal.addEventListener('abort', closeSession);
    try {
      this.#shutdown.signal.throwIfAborted();
      const identity = await session.authenticate(this.#identity);
      this.#shutdown.signal.throwIfAborted();
      this.#setIdentity(identity);
    } catch (error) {
      if (this.#shutdown.signal.aborted) await session.close();
      else session.destroy('not authenticated');
      if (error instanceof GatewayRefusal) throw error;
      const { message } = error as Error;
      throw new Error(`what listens at ${gateway.host}:${gateway.port} is no gateway, or is in trouble: ${message}`);
    } finally {
      this.#shutdown.signal.removeEventListener('abort', closeSession);
    }
    return this.#serve(session);
  }

  async #serve(session: GatewaySession): Promise<RetryPause> {
    const { now, heartbeatInterval } = this.#timing;
    const began = now();
    this.#session = session;
    this.#sessions++;
    this.#options.log('info', 'connected to the gateway', { sessions: this.#sessions });
    this.#setState('online', null);
    for (const tunnel of [...this.#tunnels]) tunnel.bind(session);
    const { message, missedHeartbeat: timedOut } = await session.ended;
    this.#session = null;
    this.#lastSession = now();
    for (const tunnel of [...this.#tunnels]) tunnel.handleSessionLost();
    this.#error = { code: '', message };
    if (this.#shutdown.signal.aborted) return NO_PAUSE;
    this.#options.log('warn', 'disconnected from the gateway', { reason: message });
    // A session that ends before the first heartbeat counts as a failure.
    this.#failures = now() - began >= heartbeatInterval ? 1 : this.#failures + 1;
    if (timedOut) return NO_PAUSE;
    return { delay: reconnectDelay(this.#failures, 0, this.#timing), state: 'waiting' };
  }

  #afterFailure(error: Error): RetryPause {
    if (this.#shutdown.signal.aborted) return NO_PAUSE;
    const { message } = error;
    const code = error instanceof GatewayRefusal ? error.code : '';
    if (message !== this.#error?.message)
      this.#options.log('warn', 'connection to the gateway failed', { code, message });
    this.#error = { code, message };
    this.#failures++;
    if (error instanceof GatewayRefusal && !error.isTransient)
      return { delay: refusedSessionDelay(this.#timing), state: 'refused' };
    const sinceSession = this.#timing.now() - this.#lastSession;
    const retryAfter = error instanceof GatewayRefusal ? error.retryAfter : 0;
    return { delay: retryAfter + reconnectDelay(this.#failures, sinceSession, this.#timing), state: 'waiting' };
  }

  async #pause(delay: number, state: ClientState): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, delay);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#retryAt = this.#timing.now() + delay;
      this.#setState(state, this.#error);
    });
    this.#wake = () => {};
    this.#retryAt = null;
  }

  #setIdentity(identity: SessionIdentity): void {
    const { clientId, cookie } = this.#identity ?? {};
    if (identity.clientId === clientId && identity.cookie === cookie) return;
    this.#identity = identity;
    this.#options.onIdentity(identity);
  }

  #setState(state: ClientState, error: GatewayError | null): void {
    if (state !== this.#state) this.#since = this.#timing.now();
    this.#state = state;
    this.#error = error;
    this.#options.onChange();
  }
}

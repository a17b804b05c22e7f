// The client of the gateway: its sessions (legs), which are renewed for as long as the client is open, and its tunnels.

import type {
  ClientOptions,
  ClientState,
  ClientStatus,
  GatewayClient,
  LabelTunnelSpec,
  SessionIdentity,
  TunnelHandle,
  TunnelSpec,
} from '../gateway-client.ts';
import { reconnectDelay } from './backoff.ts';
import { ClientTunnel, type ClientTunnelDeps } from './client-tunnel.ts';
import { forward } from './forward.ts';
import type { AcceptedSession, GatewaySession, GatewaySessionDeps } from './gateway-session.ts';
import { Leg } from './leg.ts';
import type { LegContext, OtherLeg } from './leg-context.ts';
import { findPlaces, type Place, writePlace } from './places.ts';
import { type ClientTiming, DEFAULT_TIMING } from './timing.ts';
import { waitAtMost } from './wait-at-most.ts';

export type { ClientTiming } from './timing.ts';

/** The number of legs where the options leave it to the client and there are two places. */
const LEGS_DEFAULT = 2;

/**
 * Creates a client that connects at once and reconnects until it is closed.
 * @param timing values that differ from the defaults.
 */
export function createClient(options: ClientOptions, timing: Partial<ClientTiming> = {}): GatewayClient {
  return new Client(options, { ...DEFAULT_TIMING, ...timing });
}

class Client implements GatewayClient, LegContext {
  readonly #options: ClientOptions;
  readonly #timing: ClientTiming;
  readonly #legs: readonly Leg[];
  readonly #tunnelDeps: ClientTunnelDeps;
  readonly #tunnels = new Set<ClientTunnel>();
  readonly #shutdown = new AbortController();
  /** Resolves when all legs have ended. */
  readonly #ended: Promise<unknown>;
  #closing: Promise<void> | undefined;
  #identity: SessionIdentity | null;
  /** Whether the gateway allows several sessions of an agent: one that does says which node it is. */
  #allowsLegs = false;
  /** Where each place comes in the order of this client. It is random, so that the agents spread over the nodes. */
  readonly #ranks = new Map<string, number>();
  /** The state of the client, and when it began. */
  #state: ClientState = 'connecting';
  #since: number;

  constructor(options: ClientOptions, timing: ClientTiming) {
    this.#options = options;
    this.#timing = timing;
    this.#identity = options.identity;
    this.#since = timing.now();
    const { log, onChange } = options;
    const onClosed = (tunnel: ClientTunnel) => void this.#tunnels.delete(tunnel);
    this.#tunnelDeps = { timing, live: new Map(), closing: new Set(), onChange, onClosed, log };
    const { signal } = this.#shutdown;
    this.#legs = Array.from(
      { length: options.legs ?? LEGS_DEFAULT },
      (_, number) => new Leg(number, options, timing, this, signal),
    );
    // The legs start asynchronously, so that no callback runs before the caller has the client.
    this.#ended = Promise.resolve().then(() => Promise.all(this.#legs.map((leg) => leg.run())));
  }

  get status(): ClientStatus {
    // Instants are of the monotonic clock. They are converted with the current wall clock, which may have been set since.
    const offset = Date.now() - this.#timing.now();
    const asDate = (instant: number) => Math.round(instant + offset);
    const legs = this.#wantedLegs.map((leg) => leg.status(asDate));
    const { error, retryAt, latencyMs } = legs[this.#wantedLegs.indexOf(this.#leading)] as (typeof legs)[number];
    const sessions = legs.reduce((sum, leg) => sum + leg.sessions, 0);
    return { state: this.#state, since: asDate(this.#since), error, retryAt, latencyMs, sessions, legs };
  }

  open(spec: TunnelSpec | LabelTunnelSpec): TunnelHandle {
    if (this.#shutdown.signal.aborted) throw new Error('the client is closed');
    const tunnel = new ClientTunnel(spec, this.#tunnelDeps);
    this.#tunnels.add(tunnel);
    for (const { sessionsToBind } of this.#legs) for (const session of sessionsToBind) tunnel.bind(session);
    // A new tunnel ends the pause, as its caller waits for it.
    if (this.#state === 'waiting') for (const leg of this.#wantedLegs) if (leg.state === 'waiting') leg.hurry(0);
    return tunnel;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#shutdown.abort();
    for (const tunnel of [...this.#tunnels]) {
      if (tunnel.isLive) void tunnel.close();
      else tunnel.discard();
    }
    // The wait is limited, as the gateway may not answer.
    await waitAtMost(this.#timing.drain, Promise.all(this.#tunnelDeps.closing));
    await Promise.all(this.#legs.map((leg) => leg.close()));
    await this.#ended;
  }

  get identity(): SessionIdentity | null {
    return this.#identity;
  }

  isServed(leg: OtherLeg): boolean {
    return this.#legs.some((other) => other !== leg && other.session !== null);
  }

  others(leg: OtherLeg): OtherLeg[] {
    return this.#wantedLegs.filter((other) => other !== leg);
  }

  async places(): Promise<Place[]> {
    const { gateways, legs } = this.#options;
    // To connect to a name tries all of its addresses, which is enough for one leg.
    if (legs === 1) return this.#inOrder(gateways);
    const isProxied = (gateway: Place) => Boolean(this.#options.proxyFor?.(gateway));
    const direct = gateways.filter((gateway) => !isProxied(gateway));
    // A proxy looks up names itself: the agent's machine may know none of the world outside.
    const found = await findPlaces(direct, this.#timing.dial, this.#shutdown.signal);
    return this.#inOrder([...gateways.filter(isProxied), ...found]);
  }

  #inOrder(places: readonly Place[]): Place[] {
    for (const place of places)
      if (!this.#ranks.has(writePlace(place))) this.#ranks.set(writePlace(place), this.#timing.random());
    const rank = (place: Place) => this.#ranks.get(writePlace(place)) ?? 0;
    return [...places].sort((a, b) => rank(a) - rank(b));
  }

  isWanted({ number }: OtherLeg, places: readonly Place[]): boolean {
    return number === 0 || (number < this.#legCount(places) && this.#allowsLegs);
  }

  #legCount(places: readonly Place[]): number {
    return this.#options.legs ?? (places.length > 1 ? LEGS_DEFAULT : 1);
  }

  sessionDeps(session: () => GatewaySession, places: readonly Place[]): Omit<GatewaySessionDeps, 'onMove'> {
    const { heartbeatInterval, heartbeatTolerance, legHeartbeatInterval, legHeartbeatTolerance } = this.#timing;
    const forwardDeps = {
      find: (id: string) => this.#tunnelDeps.live.get(id),
      // The tunnel is left over from a bind without a response, or is being closed.
      onUnknown: (id: string) =>
        void session()
          .unbind(id)
          .catch(() => {}),
      addresses: this.#options.addresses,
      connectTimeout: this.#timing.upstream,
    };
    return {
      options: this.#options,
      timing: this.#timing,
      heartbeat:
        this.#legCount(places) > 1
          ? { interval: legHeartbeatInterval, tolerance: legHeartbeatTolerance }
          : { interval: heartbeatInterval, tolerance: heartbeatTolerance },
      onVisitor: (stream, rest) => forward(stream, rest, forwardDeps),
      // The response to its bind may have arrived in the same read, with its promise still pending.
      onStopTunnel: ({ id, message, errorCode }) =>
        void setImmediate(() => this.#tunnelDeps.live.get(id)?.handleStopped({ code: errorCode, message })),
    };
  }

  onAccepted(leg: OtherLeg, { identity, node }: AcceptedSession): void {
    this.#allowsLegs = node !== '';
    const { clientId, cookie } = this.#identity ?? {};
    if (identity.clientId === clientId && identity.cookie === cookie) return;
    this.#identity = identity;
    this.#options.onIdentity(identity);
    // The other sessions are of an agent that this one no longer is: they could not serve the same tunnels.
    if (identity.clientId !== clientId)
      for (const { session } of this.others(leg)) session?.destroy('the agent has another identity');
  }

  async bindAll(session: GatewaySession, earlier: GatewaySession): Promise<boolean> {
    const tunnels = [...this.#tunnels];
    for (const tunnel of tunnels) tunnel.bind(session);
    await Promise.all(tunnels.map(({ binds }) => binds.settled(session)));
    const isServed = ({ state, binds }: ClientTunnel) =>
      state === 'closed' || binds.isBoundIn(session) || !binds.isBoundIn(earlier);
    return !session.isClosed && tunnels.every(isServed);
  }

  onOnline(session: GatewaySession): void {
    for (const tunnel of [...this.#tunnels]) tunnel.bind(session);
    for (const leg of this.#legs) if (!leg.isWanted) leg.hurry(0);
  }

  onOffline(session: GatewaySession): void {
    for (const tunnel of [...this.#tunnels]) tunnel.handleSessionLost(session);
    if (this.#legs.some((leg) => leg.session !== null)) return;
    // No leg serves any more, so those that could wait must not.
    for (const leg of this.#wantedLegs) leg.hurry(reconnectDelay(1, 0, this.#timing));
  }

  onChange(): void {
    const { state } = this.#leading;
    if (state !== this.#state) this.#since = this.#timing.now();
    this.#state = state;
    this.#options.onChange();
  }

  get #wantedLegs(): Leg[] {
    return this.#legs.filter(({ isWanted }) => isWanted);
  }

  /** The leg whose state is that of the client: one that is online, otherwise the first. */
  get #leading(): Leg {
    return this.#legs.find(({ state }) => state === 'online') ?? (this.#legs[0] as Leg);
  }
}

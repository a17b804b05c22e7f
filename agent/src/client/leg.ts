// One of the sessions that a client has at once: it is opened again whenever it ends, for as long as the client is open.

import { AGENT_MOVES } from '@gateway/protocol';
import type { ClientOptions, ClientState, GatewayError, LegStatus } from '../gateway-client.ts';
import { lostLegDelay, reconnectDelay, refusedSessionDelay, spareLegDelay } from './backoff.ts';
import { dial } from './dial.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import { GatewaySession } from './gateway-session.ts';
import type { LegContext } from './leg-context.ts';
import { type Place, PlaceRound, writePlace } from './places.ts';
import type { ClientTiming } from './timing.ts';

/** The pause before the next attempt to connect. */
interface RetryPause {
  delay: number;
  state: ClientState;
}

const NO_PAUSE: RetryPause = { delay: 0, state: 'connecting' };

/** The most different failures that are logged between two sessions. */
const LOGGED_MAX = 100;

/** A gateway at which a session makes no sense. The message says why. */
class UnsuitableGateway extends Error {}

/** A leg of a client. */
export class Leg {
  readonly number: number;
  readonly #options: ClientOptions;
  readonly #timing: ClientTiming;
  readonly #context: LegContext;
  readonly #shutdown: AbortSignal;
  #session: GatewaySession | null = null;
  #place: Place | null = null;
  #node: string | null = null;
  #isWanted: boolean;
  readonly #round = new PlaceRound();
  #sessions = 0;
  /** The number of consecutive sessions that failed or ended early. */
  #failures = 0;
  #lastSession = Number.NEGATIVE_INFINITY;
  #state: ClientState = 'connecting';
  #error: GatewayError | null = null;
  /** The failures that were logged since the last session. */
  readonly #logged = new Set<string>();
  #since: number;
  #retryAt: number | null = null;
  /** Ends the current pause after a delay. */
  #endPause: (delay: number) => void = () => {};

  /** @param shutdown ends the leg when it is aborted. */
  constructor(
    number: number,
    options: ClientOptions,
    timing: ClientTiming,
    context: LegContext,
    shutdown: AbortSignal,
  ) {
    this.number = number;
    this.#options = options;
    this.#timing = timing;
    this.#context = context;
    this.#shutdown = shutdown;
    this.#isWanted = number === 0;
    this.#since = timing.now();
    shutdown.addEventListener('abort', () => this.hurry(0));
  }

  /** The session; null while there is none. */
  get session(): GatewaySession | null {
    return this.#session;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** The place that it is connected to, or tries; null before the first. */
  get place(): Place | null {
    return this.#place;
  }

  /** The node that it is connected to; null while there is no session. */
  get node(): string | null {
    return this.#node;
  }

  /** Whether the client is to have this leg now. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** The status. @param asDate converts an instant of the monotonic clock. */
  status(asDate: (instant: number) => number): LegStatus {
    return {
      number: this.number,
      state: this.#state,
      since: asDate(this.#since),
      error: this.#error,
      retryAt: this.#retryAt === null ? null : asDate(this.#retryAt),
      latencyMs: this.#session?.latencyMs ?? null,
      sessions: this.#sessions,
      gateway: this.#place && writePlace(this.#place),
      node: this.#node,
    };
  }

  /** Shortens a pause: the next attempt begins after so many milliseconds at the latest. */
  hurry(delay: number): void {
    this.#endPause(delay);
  }

  /** Connects, again and again. Resolves when the client is closed. */
  async run(): Promise<void> {
    while (!this.#shutdown.aborted) {
      const places = await this.#context.places();
      this.#isWanted = this.#context.isWanted(this, places);
      if (this.#shutdown.aborted) break;
      if (!this.#isWanted) {
        await this.#pause(Number.POSITIVE_INFINITY, 'waiting'); // Another leg that connects ends it.
        continue;
      }
      this.#setState('connecting', this.#error);
      const { delay, state } = await this.#attempt(places).catch((error: Error) => this.#afterFailure(error, places));
      if (delay > 0 && !this.#shutdown.aborted) await this.#pause(delay, state);
    }
    this.#setState('closed', null);
  }

  /** Runs one session, from the connection to its end. @throws {Error} when the session cannot be opened. */
  async #attempt(places: readonly Place[]): Promise<RetryPause> {
    const used = this.#context.others(this).flatMap((leg) => leg.place ?? []);
    const place = this.#round.next(places, used);
    this.#place = place;
    const socket = await dial({ ...place, ca: this.#options.ca }, this.#timing, this.#shutdown);
    const deps = this.#context.sessionDeps(() => session, places);
    const session: GatewaySession = new GatewaySession(socket, deps);
    const closeSession = () => void session.close();
    this.#shutdown.addEventListener('abort', closeSession);
    try {
      this.#shutdown.throwIfAborted();
      if (this.#context.isServed(this)) this.#checkNode(await session.findNode());
      const accepted = await session.authenticate(this.#context.identity, this.number);
      this.#shutdown.throwIfAborted();
      if (accepted.node !== '') this.#checkNode(accepted.node);
      this.#node = accepted.node || null;
      this.#context.onAccepted(this, accepted);
    } catch (error) {
      if (this.#shutdown.aborted || error instanceof UnsuitableGateway) await session.close();
      else session.destroy('not authenticated');
      if (error instanceof GatewayRefusal || error instanceof UnsuitableGateway) throw error;
      const { message } = error as Error;
      throw new Error(`what listens at ${writePlace(place)} is no gateway, or is in trouble: ${message}`);
    } finally {
      this.#shutdown.removeEventListener('abort', closeSession);
    }
    return this.#serve(session);
  }

  /** @throws {UnsuitableGateway} when another leg is at the node already: the legs would be lost together. */
  #checkNode(node: string): void {
    const place = this.#place ? writePlace(this.#place) : '';
    if (node === '') throw new UnsuitableGateway(`the gateway at ${place} takes only one session of an agent`);
    const other = this.#context.others(this).find((leg) => leg.node === node);
    if (other) throw new UnsuitableGateway(`${place} leads to ${node}, where leg ${other.number} is already`);
  }

  async #serve(session: GatewaySession): Promise<RetryPause> {
    const { now } = this.#timing;
    const began = now();
    this.#session = session;
    this.#sessions++;
    this.#round.clear();
    this.#logged.clear();
    this.#options.log('info', 'connected to the gateway', { ...this.#logDetails(), sessions: this.#sessions });
    this.#setState('online', null);
    this.#context.onOnline(session);
    const { message, missedHeartbeat: timedOut } = await session.ended;
    this.#session = null;
    this.#node = null;
    this.#lastSession = now();
    this.#error = { code: '', message };
    this.#context.onOffline(session);
    if (this.#shutdown.aborted) return NO_PAUSE;
    this.#options.log('warn', 'disconnected from the gateway', { ...this.#logDetails(), reason: message });
    // A session that ends before the first heartbeat counts as a failure.
    this.#failures = now() - began >= session.heartbeat.interval ? 1 : this.#failures + 1;
    if (message === AGENT_MOVES) return NO_PAUSE;
    if (this.#context.isServed(this)) return { delay: lostLegDelay(this.#timing), state: 'waiting' };
    if (timedOut) return NO_PAUSE;
    return { delay: reconnectDelay(this.#failures, 0, this.#timing), state: 'waiting' };
  }

  #afterFailure(error: Error, places: readonly Place[]): RetryPause {
    if (this.#shutdown.aborted) return NO_PAUSE;
    const { message } = error;
    const code = error instanceof GatewayRefusal ? error.code : '';
    if (!this.#logged.has(message) && this.#logged.size < LOGGED_MAX)
      this.#options.log('warn', 'connection to the gateway failed', { ...this.#logDetails(), code, message });
    if (this.#logged.size < LOGGED_MAX) this.#logged.add(message);
    this.#error = { code, message };
    this.#failures++;
    if (error instanceof GatewayRefusal && !error.isTransient)
      return { delay: refusedSessionDelay(this.#timing), state: 'refused' };
    if (!this.#round.isOver(places)) return NO_PAUSE;
    const retryAfter = error instanceof GatewayRefusal ? error.retryAfter : 0;
    const sinceSession = this.#timing.now() - this.#lastSession;
    const delay = this.#context.isServed(this)
      ? spareLegDelay(this.#failures, this.#timing)
      : reconnectDelay(this.#failures, sinceSession, this.#timing);
    return { delay: retryAfter + delay, state: 'waiting' };
  }

  async #pause(delay: number, state: ClientState): Promise<void> {
    await new Promise<void>((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      let endsAt = Number.POSITIVE_INFINITY;
      this.#endPause = (rest) => {
        const { now } = this.#timing;
        if (now() + rest >= endsAt) return;
        endsAt = now() + rest;
        this.#retryAt = endsAt;
        clearTimeout(timer);
        timer = setTimeout(resolve, rest);
      };
      this.#endPause(delay);
      this.#setState(state, this.#error);
    });
    this.#endPause = () => {};
    this.#retryAt = null;
  }

  /** What the log says of a leg, where there are several. */
  #logDetails(): object {
    if (this.#context.others(this).length === 0 && this.number === 0) return {};
    return { leg: this.number, gateway: this.#place && writePlace(this.#place), node: this.#node };
  }

  #setState(state: ClientState, error: GatewayError | null): void {
    if (state !== this.#state) this.#since = this.#timing.now();
    this.#state = state;
    this.#error = error;
    this.#context.onChange();
  }
}

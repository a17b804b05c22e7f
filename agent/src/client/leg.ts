// One of the sessions that a client has at once: it is opened again whenever it ends, for as long as the client is open.

import type { ClientOptions, ClientState, GatewayError, LegStatus } from '../gateway-client.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import type { GatewaySession, SessionEnding } from './gateway-session.ts';
import type { LegContext } from './leg-context.ts';
import { AT_ONCE, Attempts, isReplaced, type NextAttempt } from './next-attempt.ts';
import { type OpenedSession, openSession, UnsuitableGateway } from './open-session.ts';
import { type Place, PlaceRound, writePlace } from './places.ts';
import { RetryPause } from './retry-pause.ts';
import { SessionMoves } from './session-moves.ts';
import type { ClientTiming } from './timing.ts';

/** The most different failures that are logged between two sessions. */
const LOGGED_MAX = 100;
/** What it means when another session takes the place of one, and what to do. */
const TWO_DEVICES =
  'another device has the identity of this one, as after a copy of its disk. Remove the state file and the device file of one of them';

/** A leg of a client. */
export class Leg {
  readonly number: number;
  readonly #options: ClientOptions;
  readonly #timing: ClientTiming;
  readonly #context: LegContext;
  readonly #shutdown: AbortSignal;
  #session: GatewaySession | null = null;
  readonly #moves: SessionMoves;
  readonly #attempts: Attempts;
  readonly #pause: RetryPause;
  #place: Place | null = null;
  #node: string | null = null;
  #isWanted: boolean;
  /** The last authtoken, if the gateway has refused it. */
  #refusedAuthtoken: string | null = null;
  /** Whether there may be another one at once. */
  #asksAgain = false;
  readonly #round = new PlaceRound();
  #sessions = 0;
  #state: ClientState = 'connecting';
  #error: GatewayError | null = null;
  /** The failures that were logged since the last session. */
  readonly #logged = new Set<string>();
  #since: number;
  /** Called when there is no session any more. */
  #onLost: (next: NextAttempt) => void = () => {};

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
    this.#moves = new SessionMoves(timing, shutdown);
    this.#attempts = new Attempts(timing);
    this.#pause = new RetryPause(timing);
    this.#isWanted = number === 0;
    this.#since = timing.now();
    shutdown.addEventListener('abort', () => this.hurry(0));
  }

  /** The session; null while there is none. */
  get session(): GatewaySession | null {
    return this.#session;
  }

  /** The sessions in which tunnels are to be bound: two during a move. */
  get sessionsToBind(): GatewaySession[] {
    return [this.#session, this.#moves.next].filter((session) => session !== null);
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
      retryAt: this.#pause.endsAt === null ? null : asDate(this.#pause.endsAt),
      latencyMs: this.#session?.latencyMs ?? null,
      sessions: this.#sessions,
      gateway: this.#place && writePlace(this.#place),
      node: this.#node,
    };
  }

  /** Shortens a pause: the next attempt begins after so many milliseconds at the latest. */
  hurry(delay: number): void {
    this.#pause.shorten(delay);
  }

  /** Connects, again and again. Resolves when the client is closed. */
  async run(): Promise<void> {
    while (!this.#shutdown.aborted) {
      const places = await this.#context.places();
      this.#isWanted = this.#context.isWanted(this, places);
      if (this.#shutdown.aborted) break;
      if (!this.#isWanted) {
        await this.#wait(Number.POSITIVE_INFINITY, 'waiting'); // Another leg that connects ends it.
        continue;
      }
      this.#setState('connecting', this.#error);
      const { delay, state } = await this.#attempt(places).catch((error: Error) => this.#afterFailure(error, places));
      if (delay > 0 && !this.#shutdown.aborted) await this.#wait(delay, state);
    }
    this.#setState('closed', null);
  }

  /** Closes all sessions. Resolves when their connections are closed. */
  async close(): Promise<void> {
    await Promise.all([...this.sessionsToBind, ...this.#moves.left].map((session) => session.close()));
  }

  /** Runs one session, from the connection to its end. @throws {Error} when the session cannot be opened. */
  async #attempt(places: readonly Place[]): Promise<NextAttempt> {
    const used = this.#context.others(this).flatMap((leg) => leg.place ?? []);
    this.#place = this.#round.next(places, used);
    const opened = await this.#open(this.#place, places, false);
    return new Promise((resolve) => {
      this.#onLost = resolve;
      this.#use(opened, 'connected to the gateway');
      this.#context.onOnline(opened.session);
    });
  }

  async #open(place: Place, places: readonly Place[], moves: boolean): Promise<OpenedSession> {
    const { authtoken: source } = this.#options;
    const authtoken = typeof source === 'string' ? source : await source(this.#refusedAuthtoken);
    const opened = await openSession(place, {
      ...{ authtoken, ca: this.#options.ca, timing: this.#timing, shutdown: this.#shutdown },
      proxy: this.#options.proxyFor?.(place) ?? null,
      ...{ identity: this.#context.identity, legNumber: this.number, moves },
      deps: (session) => ({
        ...this.#context.sessionDeps(session, places),
        onMove: () => this.#move(session(), places),
      }),
      asksFirst: moves || this.#context.isServed(this),
      checkNode: (node) => this.#checkNode(node, writePlace(place), moves),
    }).catch((error: Error) => {
      const isBad = error instanceof GatewayRefusal && error.isBadAuthtoken;
      this.#asksAgain = isBad && typeof source !== 'string' && this.#refusedAuthtoken === null;
      if (isBad) this.#refusedAuthtoken = authtoken;
      throw error;
    });
    this.#refusedAuthtoken = null;
    this.#context.onAccepted(this, opened.accepted);
    return opened;
  }

  /** @throws {UnsuitableGateway} when another leg is at the node already: the legs would be lost together. */
  #checkNode(node: string, place: string, moves: boolean): void {
    if (node === '') throw new UnsuitableGateway(`the gateway at ${place} takes only one session of an agent`);
    if (moves && node === this.#node) throw new UnsuitableGateway(`${place} leads to ${node}, which the agent leaves`);
    const other = this.#context.others(this).find((leg) => leg.node === node);
    if (other) throw new UnsuitableGateway(`${place} leads to ${node}, where leg ${other.number} is already`);
  }

  /** From now on, this is the session. */
  #use({ session, place, accepted }: OpenedSession, event: string): void {
    this.#session = session;
    this.#place = place;
    this.#node = accepted.node || null;
    this.#attempts.begin();
    this.#sessions++;
    this.#round.clear();
    this.#logged.clear();
    this.#options.log('info', event, { ...this.#logDetails(), sessions: this.#sessions });
    this.#setState('online', null);
    void session.ended.then((ending) => this.#handleEnd(session, ending));
  }

  /** Moves to another process of the gateway. @returns null when all tunnels are there, otherwise why not. */
  async #move(from: GatewaySession, known: readonly Place[]): Promise<string | null> {
    if (this.#moves.left.has(from)) return null;
    // The same address leads to another process now, where there are several.
    const current = this.#place as Place;
    const others = known.filter((place) => writePlace(place) !== writePlace(current));
    const failure = await this.#moves.run(from, {
      places: [current, ...others],
      open: (place) => this.#open(place, known, true),
      bindAll: (session) => {
        void session.ended.then(() => this.#context.onOffline(session));
        return this.#context.bindAll(session, from);
      },
      onMoved: (opened) => {
        this.#use(opened, 'moved to another process of the gateway');
        this.#context.onOffline(from);
      },
    });
    if (failure !== null) this.#options.log('warn', 'not moved', { ...this.#logDetails(), reason: failure });
    return failure;
  }

  async #handleEnd(session: GatewaySession, ending: SessionEnding): Promise<void> {
    if (session !== this.#session) return; // The agent has moved from it.
    const message = isReplaced(ending) ? `${ending.message}: ${TWO_DEVICES}` : ending.message;
    const { underWay } = this.#moves;
    this.#session = null;
    this.#node = null;
    this.#error = { code: '', message };
    this.#context.onOffline(session);
    const next = this.#attempts.afterSession(session, ending, this.#context.isServed(this));
    if (this.#shutdown.aborted) return this.#onLost(AT_ONCE);
    this.#options.log('warn', 'disconnected from the gateway', { ...this.#logDetails(), reason: message });
    if (underWay) this.#setState('connecting', this.#error);
    // A move that is under way may still succeed.
    if (!underWay || (await underWay) !== null) this.#onLost(next);
  }

  #afterFailure(error: Error, places: readonly Place[]): NextAttempt {
    if (this.#shutdown.aborted) return AT_ONCE;
    const { message } = error;
    const code = error instanceof GatewayRefusal ? error.code : '';
    if (!this.#logged.has(message) && this.#logged.size < LOGGED_MAX)
      this.#options.log('warn', 'connection to the gateway failed', { ...this.#logDetails(), code, message });
    if (this.#logged.size < LOGGED_MAX) this.#logged.add(message);
    this.#error = { code, message };
    if (this.#asksAgain) {
      this.#asksAgain = false;
      return AT_ONCE;
    }
    return this.#attempts.afterFailure(error, this.#round.isOver(places), this.#context.isServed(this));
  }

  #wait(delay: number, state: ClientState): Promise<void> {
    return this.#pause.run(delay, (begunAt) => this.#setState(state, this.#error, begunAt));
  }

  /** What the log says of a leg, where there are several. */
  #logDetails(): object {
    if (this.#context.others(this).length === 0 && this.number === 0) return {};
    return { leg: this.number, gateway: this.#place && writePlace(this.#place), node: this.#node };
  }

  #setState(state: ClientState, error: GatewayError | null, at = this.#timing.now()): void {
    if (state !== this.#state) this.#since = at;
    this.#state = state;
    this.#error = error;
    this.#context.onChange();
  }
}

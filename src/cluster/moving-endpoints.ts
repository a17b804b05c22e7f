// Endpoints whose node stops: their agents connect to another node in a moment, and their visitors wait until then.

import { waitAtMost } from '../runtime/wait-at-most.ts';
import type { LiveEndpoint } from '../tunnel/endpoints/endpoint.ts';
import type { EndpointAddress } from '../tunnel/endpoints/endpoint-registry.ts';
import type { ClusterCalls } from './cluster-calls.ts';
import type { DescribedTunnels } from './descriptions.ts';
import type { IncomingVisits } from './incoming-visits.ts';
import type { CallHandler } from './node-link.ts';

const MOVING = 'moving';
const ASK_MOVING = 'areMoving';
/** How long visitors wait for the agent of a moving endpoint; milliseconds. */
const HOLD_MS = 10_000;
/** How often they look whether it is back; milliseconds. Mostly that is answered from memory. */
const LOOK_MS = 100;
/** The most visitors who wait, for one endpoint and in all. Further ones are told that it is offline. */
const ENDPOINT_WAITING_MAX = 1000;
const WAITING_MAX = 10_000;
/**
 * How long a node asks the others about moves after it has joined them: one that began before lasts that long, and the list of nodes
 * of who began it may be a few seconds old.
 */
const JOINING_MS = HOLD_MS + 5000;
/** The most questions at once. Visitors of unknown names cause them, too; above it, what they want does not move. */
const ASKED_MAX = 32;
/** The most of them in one message. */
const MESSAGE_MAX = 1000;
/** How long a node that stops waits for the others to know, and then for the visits that they have sent; milliseconds. */
const ANNOUNCE_LIMIT_MS = 300;
const IDLE_LIMIT_MS = 1000;

/** What moves: an endpoint by its address, or some labelled tunnels of an account. */
export type Movable = EndpointAddress | `labels:${string}`;

/** What moves; in a question, what is asked about, and in its answer, what of that moves. */
interface MovingMessage {
  movables: Movable[];
}

interface Move {
  until: number;
  waiting: number;
}

export class MovingEndpoints {
  readonly #now: () => number;
  readonly #moves = new Map<Movable, Move>();
  /** What this node has announced, and until when. Its own visitors do not wait for it. */
  readonly #announced = new Map<Movable, number>();
  #joined: { calls: Pick<ClusterCalls, 'callAll'>; until: number } | undefined;
  #asked = 0;
  #waiting = 0;

  /** @param now a monotonic clock, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The handlers of the calls of a node that stops, and of one that has just started. */
  readonly methods: [method: string, handler: CallHandler][] = [
    [
      MOVING,
      async (body) => {
        this.hold((body as MovingMessage).movables);
        return {};
      },
    ],
    [
      ASK_MOVING,
      async (body) => {
        const now = this.#now();
        const { movables } = body as MovingMessage;
        const isMoving = (movable: Movable) => (this.#announced.get(movable) ?? 0) > now || this.#moveOf([movable]);
        return { movables: movables.filter(isMoving) } satisfies MovingMessage;
      },
    ],
  ];

  /** Has this node ask the others, as long as there may be moves that began before they knew of it. */
  join(calls: Pick<ClusterCalls, 'callAll'>): void {
    this.#joined = { calls, until: this.#now() + JOINING_MS };
  }

  /**
   * Lets the visitors at all other nodes wait for endpoints whose agents are about to connect elsewhere. It takes 300 ms at most, and
   * never rejects.
   */
  async announce(calls: Pick<ClusterCalls, 'callAll'>, movables: readonly Movable[]): Promise<void> {
    const until = this.#now() + HOLD_MS;
    for (const movable of movables) this.#announced.set(movable, until);
    setTimeout(() => this.#forget(), HOLD_MS).unref();
    const messages: Movable[][] = [];
    for (let at = 0; at < movables.length; at += MESSAGE_MAX) messages.push(movables.slice(at, at + MESSAGE_MAX));
    await Promise.all(
      messages.map((some) => calls.callAll(MOVING, { movables: some } satisfies MovingMessage, ANNOUNCE_LIMIT_MS)),
    );
  }

  /** Lets the visitors of this node wait for endpoints that are moving. */
  hold(movables: readonly Movable[]): void {
    const until = this.#now() + HOLD_MS;
    for (const movable of movables)
      this.#moves.set(movable, { until, waiting: this.#moves.get(movable)?.waiting ?? 0 });
    setTimeout(() => this.#forget(), HOLD_MS).unref();
  }

  /** Lets them wait no longer: the endpoints have stayed. */
  release(movables: readonly Movable[]): void {
    for (const movable of movables) {
      this.#moves.delete(movable);
      this.#announced.delete(movable);
    }
  }

  /**
   * Looks for an endpoint, again and again while it is moving.
   * @param movables what would serve the visitor.
   * @returns what was found last: an endpoint, or whatever else `look` gives.
   */
  async find<T>(movables: readonly Movable[], look: () => Promise<LiveEndpoint | T>): Promise<LiveEndpoint | T> {
    for (;;) {
      const found = await look();
      if (typeof found === 'object' || !(await this.wait(movables))) return found;
    }
  }

  /**
   * Waits a moment for an endpoint that is moving.
   * @param movables what would serve the visitor.
   * @returns whether to look for it again; at once false when none of them is moving, or too many visitors wait.
   */
  async wait(movables: readonly Movable[]): Promise<boolean> {
    const move = this.#moveOf(movables) ?? (await this.#moveOfOthers(movables));
    if (!move || move.waiting >= ENDPOINT_WAITING_MAX || this.#waiting >= WAITING_MAX) return false;
    move.waiting++;
    this.#waiting++;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    move.waiting--;
    this.#waiting--;
    return true;
  }

  #moveOf(movables: readonly Movable[]): Move | undefined {
    const now = this.#now();
    for (const movable of movables) {
      const move = this.#moves.get(movable);
      if (move && move.until > now) return move;
    }
    return undefined;
  }

  /** Asks the other nodes whether one of them moves, while this one may not have been told. */
  async #moveOfOthers(movables: readonly Movable[]): Promise<Move | undefined> {
    if (!this.#joined || this.#joined.until <= this.#now() || this.#asked >= ASKED_MAX) return undefined;
    const { calls } = this.#joined;
    this.#asked++;
    const question: MovingMessage = { movables: [...movables] };
    const { answers } = await calls.callAll<MovingMessage>(ASK_MOVING, question, ANNOUNCE_LIMIT_MS);
    this.#asked--;
    this.hold([...answers.values()].flatMap((answer) => answer.movables));
    return this.#moveOf(movables);
  }

  #forget(): void {
    const now = this.#now();
    for (const [movable, { until }] of this.#moves) if (until <= now) this.#moves.delete(movable);
    for (const [movable, until] of this.#announced) if (until <= now) this.#announced.delete(movable);
  }
}

export interface MoveDeps {
  moving: MovingEndpoints;
  calls: ClusterCalls;
  own: Pick<DescribedTunnels, 'withdrawAll'>;
  incoming: Pick<IncomingVisits, 'end'>;
}

/**
 * Lets the visitors at all other nodes wait for the endpoints of this one, whose agents are about to connect elsewhere, and waits
 * until the visits that others have sent have ended: from then on the sessions of the agents can end, and no visitor notices. It
 * takes less than two seconds, and never rejects.
 */
export async function moveEndpoints(
  { moving, calls, own, incoming }: MoveDeps,
  movables: readonly Movable[],
): Promise<void> {
  await moving.announce(calls, movables);
  await waitAtMost(ANNOUNCE_LIMIT_MS, own.withdrawAll());
  await incoming.end(IDLE_LIMIT_MS);
}

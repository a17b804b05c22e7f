// Moves of a leg: its tunnels are bound in a session with another process of the gateway, before the earlier session ends.

import { setTimeout as wait } from 'node:timers/promises';
import type { GatewaySession } from './gateway-session.ts';
import type { OpenedSession } from './open-session.ts';
import type { Place } from './places.ts';
import type { ClientTiming } from './timing.ts';

/** How often all places are tried. One address may lead to any of several processes, also to one that will not do. */
const ROUNDS_MAX = 3;

export interface MoveOptions {
  /** Where the gateway can be reached, in the order in which it is tried. */
  places: readonly Place[];
  /** Opens the next session beside the one that is to end. */
  open(place: Place): Promise<OpenedSession>;
  /** Binds all tunnels in it. @returns whether it serves all that the earlier session serves. */
  bindAll(session: GatewaySession): Promise<boolean>;
  /** Called when it does, at once. */
  onMoved(opened: OpenedSession): void;
}

/** The moves of one leg. */
export class SessionMoves {
  readonly #timing: Pick<ClientTiming, 'random' | 'retryFirst'>;
  readonly #shutdown: AbortSignal;
  #next: GatewaySession | null = null;
  readonly #left = new Set<GatewaySession>();
  #underWay: Promise<string | null> | undefined;

  /** @param shutdown ends a move when it is aborted. */
  constructor(timing: Pick<ClientTiming, 'random' | 'retryFirst'>, shutdown: AbortSignal) {
    this.#timing = timing;
    this.#shutdown = shutdown;
  }

  /** The session to which the agent moves, until it takes the place of the earlier one. */
  get next(): GatewaySession | null {
    return this.#next;
  }

  /** Sessions from which the agent has moved. The gateway ends them when their last visitors are gone. */
  get left(): ReadonlySet<GatewaySession> {
    return this.#left;
  }

  /** Resolves when a move is over, as `run` does; undefined when there is none. */
  get underWay(): Promise<string | null> | undefined {
    return this.#underWay;
  }

  /** Moves from a session. @returns null when all its tunnels are bound in another one, otherwise why not. */
  run(from: GatewaySession, options: MoveOptions): Promise<string | null> {
    if (this.#underWay) return Promise.resolve('the agent moves already');
    const moved = this.#move(from, options).catch((error: Error) => error.message);
    this.#underWay = moved.finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #move(from: GatewaySession, { places, open, bindAll, onMoved }: MoveOptions): Promise<null> {
    for (let round = 1; ; round++) {
      let failure = new Error('there is no place to go');
      for (const place of places) {
        try {
          const opened = await open(place);
          this.#next = opened.session;
          const isBound = await bindAll(opened.session);
          this.#next = null;
          if (isBound) {
            this.#leave(from);
            onMoved(opened);
            return null;
          }
          failure = new Error('not all tunnels are bound there');
          await opened.session.close();
        } catch (error) {
          failure = error as Error;
        }
      }
      if (round === ROUNDS_MAX || this.#shutdown.aborted) throw failure;
      await wait(this.#timing.random() * this.#timing.retryFirst, undefined, { signal: this.#shutdown });
    }
  }

  #leave(session: GatewaySession): void {
    if (session.isClosed) return;
    this.#left.add(session);
    void session.ended.then(() => this.#left.delete(session));
  }
}

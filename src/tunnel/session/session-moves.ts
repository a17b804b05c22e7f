// Moves the agents of a node that stops to other nodes. A session ends at an instant at which no visitor has a stream of it: existing
// SDKs cut what is under way when a session ends, and connect again within 50 ms.

import { setTimeout as pause } from 'node:timers/promises';
import { AGENT_MOVES } from '../../protocol/messages/session-end.ts';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import { endpointAddress } from '../endpoints/endpoint-registry.ts';
import type { AgentSessions } from './agent-sessions.ts';
import type { RegisteredSession, ServedTunnels } from './session-types.ts';

/** The time between two moves, in milliseconds: the agents connect elsewhere at once, and 50 a second are no crowd for a busy machine. */
const PACE_MS = 20;
/**
 * How long visitors wait, and no new stream is opened, until those under way have ended; milliseconds. Idle connections that are kept
 * for the next request are closed within that time. It is less than the time for which other nodes hold visitors.
 */
const SETTLE_MS = 1000;
const SETTLE_LOOK_MS = 5;
/** How often sessions with long streams are looked at, in milliseconds. They move when they happen to be idle. */
const LOOK_MS = 250;

/** What moves: the address of an endpoint, or some labelled tunnels of an account. */
export type MovingAddress = ReturnType<typeof endpointAddress> | `labels:${string}`;

export interface SessionMovesDeps {
  sessions: Pick<AgentSessions, 'all'>;
  /** Lets the visitors at all nodes wait for these endpoints. */
  hold(addresses: readonly MovingAddress[]): Promise<void>;
  /** Called when they have stayed after all. */
  release(addresses: readonly MovingAddress[]): void;
}

export class SessionMoves {
  readonly #deps: SessionMovesDeps;
  /** Sessions that had long streams when they were to move. */
  readonly #busy = new Set<RegisteredSession>();
  readonly #moving = new Set<RegisteredSession>();

  constructor(deps: SessionMovesDeps) {
    this.#deps = deps;
  }

  /** Moves all sessions, as they become idle. @returns when none is left, or after so many milliseconds. */
  async run(limitMs: number): Promise<void> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      const { all } = this.#deps.sessions;
      if (all.length === 0 || performance.now() >= deadline) return;
      for (const session of all) {
        const isDue = !this.#moving.has(session) && (!this.#busy.has(session) || session.accepted?.tunnels.isIdle);
        if (!isDue) continue;
        void this.#move(session);
        await pause(PACE_MS);
      }
      await pause(Math.min(LOOK_MS, Math.max(0, deadline - performance.now())));
    }
  }

  async #move(session: RegisteredSession): Promise<void> {
    const { accepted } = session;
    if (!accepted) return;
    const { tunnels, accountId } = accepted;
    const addresses = addressesOf(tunnels, accountId);
    this.#moving.add(session);
    // First all nodes know that the endpoints move: whoever finds them no more waits.
    await this.#deps.hold(addresses);
    tunnels.suspend();
    const until = performance.now() + SETTLE_MS;
    while (!tunnels.isIdle && performance.now() < until) await pause(SETTLE_LOOK_MS);
    this.#moving.delete(session);
    if (tunnels.isIdle) {
      session.close(ErrorCode.NONE, AGENT_MOVES);
      void this.#deps.hold(addresses); // From now on they wait for the agent.
    } else {
      this.#busy.add(session);
      tunnels.resume();
      this.#deps.release(addresses);
    }
  }
}

function addressesOf(tunnels: ServedTunnels, accountId: string): MovingAddress[] {
  const addresses: MovingAddress[] = tunnels.addressed.map(endpointAddress);
  return tunnels.labelled.length > 0 ? [...addresses, `labels:${accountId}`] : addresses;
}

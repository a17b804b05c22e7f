// Moves agents to other nodes: all of those of a node that stops, or some of one that has more than the others. Our own agent has its tunnels at another node before its session here ends, so
// no visitor waits. The session of another agent ends at an instant at which no visitor has a stream of it: existing SDKs cut what is
// under way when a session ends, and connect again within 50 ms.

import { setTimeout as pause } from 'node:timers/promises';
import { AGENT_MOVES } from '../../protocol/messages/session-end.ts';
import { ErrorCode } from '../../protocol/mux/stream.ts';
import { waitAtMost } from '../../runtime/wait-at-most.ts';
import type { Registrar } from '../control/registrar.ts';
import { endpointAddress } from '../endpoints/endpoint-registry.ts';
import type { AgentSessions } from './agent-sessions.ts';
import type { RegisteredSession, ServedTunnels } from './session-types.ts';

/**
 * The time for one agent to connect elsewhere before the next one does, in milliseconds. One that meets no other is away for some 60 ms,
 * and its visitors wait for so long. Where there are many, the pace is such that all move in half of the time that there is.
 */
const PACE_MS = { least: 20, most: 100 };
/**
 * How long visitors wait, and no new stream is opened, until those under way have ended; milliseconds. Idle connections that are kept
 * for the next request are closed within that time. It is less than the time for which other nodes hold visitors.
 */
const SETTLE_MS = 1000;
const SETTLE_LOOK_MS = 5;
/** How often sessions with streams are looked at, in milliseconds. They end or move when they happen to be idle. */
const LOOK_MS = 250;
/** How long the agent of a session that has ended takes at most, as a rule, until it is back; milliseconds. */
const BACK_MS = 500;
/** How long a session stays at least that its agent has left, in milliseconds: visitors may have found its tunnels just before. */
const LEFT_MS = 1000;

/** How long the control plane may take to say that agents can connect; milliseconds. */
const CONTROL_MS = 1000;

/** What moves: the address of an endpoint, or some labelled tunnels of an account. */
export type MovingAddress = ReturnType<typeof endpointAddress> | `labels:${string}`;

export interface SessionMovesDeps {
  sessions: Pick<AgentSessions, 'all'>;
  registrar: Pick<Registrar, 'leaveTunnels' | 'grant'>;
  /** Lets the visitors at all nodes wait for these endpoints. */
  hold(addresses: readonly MovingAddress[]): Promise<void>;
  /** Called when they have stayed after all. */
  release(addresses: readonly MovingAddress[]): void;
}

type Accepted = NonNullable<RegisteredSession['accepted']>;

export class SessionMoves {
  readonly #deps: SessionMovesDeps;
  /** Sessions that had long streams when they were to move. */
  readonly #busy = new WeakSet<RegisteredSession>();
  readonly #moving = new Set<RegisteredSession>();
  /** Sessions whose tunnels their agents have in other ones, and since when. They end with their last stream. */
  readonly #left = new Map<RegisteredSession, number>();
  /** Sessions that have stayed when they could have gone to a node with fewer. They are not asked again. */
  readonly #stayed = new WeakSet<RegisteredSession>();
  /** Settles when moves go on. */
  #turn: Promise<void> = Promise.resolve();
  #goOn: (() => void) | undefined;
  /** When the last session ended. */
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: SessionMovesDeps) {
    this.#deps = deps;
  }

  /** Moves all sessions, as they become idle. @returns when none is left, or after so many milliseconds. */
  async run(limitMs: number): Promise<void> {
    const { sessions } = this.#deps;
    const deadline = performance.now() + limitMs;
    const paceMs = Math.max(PACE_MS.least, Math.min(PACE_MS.most, limitMs / 2 / sessions.all.length));
    while (sessions.all.length > 0 && performance.now() < deadline) {
      await this.#turn;
      this.endLeft();
      const next = this.#next();
      if (!next) await pause(Math.min(LOOK_MS, Math.max(0, deadline - performance.now())));
      else if (canLeave(next)) await waitAtMost(paceMs, this.#move(next));
      else {
        void this.#move(next);
        await pause(paceMs);
      }
    }
  }

  /** How many sessions are here that their agents have not left. */
  get size(): number {
    return this.#deps.sessions.all.filter((session) => !this.#left.has(session)).length;
  }

  /**
   * Moves agents while this node goes on, one after the other. One that cannot move, or has visitors whom a move would cut, stays.
   * @param isDue asked before each of them: whether another one is to move.
   */
  async spread(isDue: () => boolean): Promise<void> {
    for (const session of this.#deps.sessions.all) {
      await this.#turn;
      this.endLeft();
      if (!isDue()) return;
      if (!this.#isDue(session) || this.#stayed.has(session)) continue;
      if (!canLeave(session) && !(await this.#canConnectAgain(session))) continue;
      this.#stayed.add(session);
      await this.#move(session, true);
      await pause(PACE_MS.most);
    }
  }

  /** Ends the sessions that their agents have left, when the last visitors of these are gone. */
  endLeft(): void {
    if (this.#left.size === 0) return;
    const here = new Set(this.#deps.sessions.all);
    for (const session of this.#left.keys())
      if (here.has(session)) this.#endIfLeft(session);
      else this.#left.delete(session);
  }

  /** Whether an agent that is to connect anew can: the control process answers, and no visitor has a stream. */
  async #canConnectAgain({ accepted }: RegisteredSession): Promise<boolean> {
    if (!accepted?.tunnels.isIdle) return false;
    const grant = this.#deps.registrar.grant(accepted.credentialId).catch(() => undefined);
    return Boolean(await waitAtMost(CONTROL_MS, grant)) && accepted.tunnels.isIdle;
  }

  /** The session to move next. Agents of ours come first: nobody waits for them, and they warm up the node to which they move. */
  #next(): RegisteredSession | undefined {
    const due = this.#deps.sessions.all.filter((session) => this.#isDue(session));
    return due.find(canLeave) ?? due[0];
  }

  /** Begins no further moves, until `resume`. @returns when the agents that were moved are back, as far as that can be told. */
  async pause(): Promise<void> {
    if (!this.#goOn) {
      this.#turn = new Promise((resolve) => {
        this.#goOn = resolve;
      });
    }
    while (this.#moving.size > 0) await pause(SETTLE_LOOK_MS);
    await pause(Math.max(0, this.#endedAt + BACK_MS - performance.now()));
  }

  resume(): void {
    this.#goOn?.();
    this.#goOn = undefined;
  }

  #isDue(session: RegisteredSession): boolean {
    if (!session.accepted || this.#moving.has(session) || this.#left.has(session)) return false;
    return !this.#busy.has(session) || session.accepted.tunnels.isIdle;
  }

  #endIfLeft(session: RegisteredSession): void {
    const leftAt = this.#left.get(session) ?? Number.POSITIVE_INFINITY;
    if (performance.now() >= leftAt + LEFT_MS && session.accepted?.tunnels.isIdle)
      session.close(ErrorCode.NONE, AGENT_MOVES);
  }

  /** @param mayStay whether an agent that knows how to move, and cannot, stays. */
  async #move(session: RegisteredSession, mayStay = false): Promise<void> {
    const { accepted } = session;
    if (!accepted) return;
    this.#moving.add(session);
    if (canLeave(session) && (await this.#leave(session, accepted))) this.#left.set(session, performance.now());
    else if (!mayStay || !canLeave(session)) await this.#moveIdle(session, accepted);
    this.#moving.delete(session);
  }

  /** @returns whether the agent has all tunnels in another session now. Visitors go there from then on. */
  async #leave(session: RegisteredSession, { accountId, sessionId, tunnels }: Accepted): Promise<boolean> {
    const refused = await session.command({ kind: 'move' }).catch((error: Error) => error.message);
    if (refused !== null) return false;
    // Both sessions serve the tunnels, so visitors who come from now on find the other one. Where a node is too busy to say so, they
    // wait for it.
    await this.#deps.hold(addressesOf(tunnels, accountId));
    tunnels.leave();
    if (await this.#deps.registrar.leaveTunnels(sessionId).catch(() => false)) return true;
    tunnels.resume();
    return false;
  }

  async #moveIdle(session: RegisteredSession, { tunnels, accountId }: Accepted): Promise<void> {
    const addresses = addressesOf(tunnels, accountId);
    // First all nodes know that the endpoints move: whoever finds them no more waits.
    await this.#deps.hold(addresses);
    tunnels.suspend();
    const until = performance.now() + SETTLE_MS;
    while (!tunnels.isIdle && performance.now() < until) await pause(SETTLE_LOOK_MS);
    if (tunnels.isIdle) {
      session.close(ErrorCode.NONE, AGENT_MOVES);
      this.#endedAt = performance.now();
      void this.#deps.hold(addresses); // From now on they wait for the agent.
    } else {
      this.#busy.add(session);
      tunnels.resume();
      this.#deps.release(addresses);
    }
  }
}

/** Whether the agent can be elsewhere before its session here ends. */
function canLeave({ accepted }: RegisteredSession): boolean {
  return accepted?.auth.moveUnsupported === '';
}

function addressesOf(tunnels: ServedTunnels, accountId: string): MovingAddress[] {
  const addresses: MovingAddress[] = tunnels.addressed.map(endpointAddress);
  return tunnels.labelled.length > 0 ? [...addresses, `labels:${accountId}`] : addresses;
}

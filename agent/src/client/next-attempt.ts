// When a leg connects next, after a session or a failure.

import { AGENT_MOVES, SESSION_REPLACED } from '@gateway/protocol';
import type { ClientState } from '../gateway-client.ts';
import { lostLegDelay, reconnectDelay, refusedSessionDelay, replacedDelay, spareLegDelay } from './backoff.ts';
import { GatewayRefusal } from './gateway-refusal.ts';
import type { GatewaySession, SessionEnding } from './gateway-session.ts';
import type { ClientTiming } from './timing.ts';

/** The delay of the next attempt to connect, and the state of the leg until then. */
export interface NextAttempt {
  delay: number;
  state: ClientState;
}

export const AT_ONCE: NextAttempt = { delay: 0, state: 'connecting' };

const waiting = (delay: number): NextAttempt => ({ delay, state: 'waiting' });

/** Whether another session has taken the place of the session. */
export const isReplaced = ({ message }: SessionEnding) => message.startsWith(SESSION_REPLACED);

/** The attempts of one leg. */
export class Attempts {
  readonly #timing: ClientTiming;
  /** The number of consecutive sessions that failed or ended early. */
  #failures = 0;
  /** The number of consecutive refusals, and of consecutive sessions whose place another one took. */
  #refusals = 0;
  #replacements = 0;
  /** When the session began, and when the last one ended. */
  #began = Number.NEGATIVE_INFINITY;
  #lastSession = Number.NEGATIVE_INFINITY;

  constructor(timing: ClientTiming) {
    this.#timing = timing;
  }

  /** To be called when a session begins. */
  begin(): void {
    this.#began = this.#timing.now();
    this.#refusals = 0;
  }

  /** After the end of the session. @param isServed whether another leg is connected. */
  afterSession({ heartbeat }: GatewaySession, ending: SessionEnding, isServed: boolean): NextAttempt {
    this.#lastSession = this.#timing.now();
    // A session that ends before the first heartbeat counts as a failure.
    this.#failures = this.#lastSession - this.#began >= heartbeat.interval ? 1 : this.#failures + 1;
    if (ending.message === AGENT_MOVES) return AT_ONCE;
    if (isReplaced(ending)) {
      const hasLasted = this.#lastSession - this.#began > 2 * this.#timing.replacedMax;
      this.#replacements = hasLasted ? 1 : this.#replacements + 1;
      return waiting(replacedDelay(this.#replacements, this.#timing));
    }
    if (isServed) return waiting(lostLegDelay(this.#timing));
    return ending.missedHeartbeat ? AT_ONCE : waiting(reconnectDelay(this.#failures, 0, this.#timing));
  }

  /**
   * After a session that could not be opened.
   * @param isOver whether all places were tried. @param isServed whether another leg is connected.
   */
  afterFailure(error: Error, isOver: boolean, isServed: boolean): NextAttempt {
    this.#failures++;
    if (error instanceof GatewayRefusal && !error.isTransient)
      return { delay: refusedSessionDelay(++this.#refusals, this.#timing), state: 'refused' };
    if (!isOver) return AT_ONCE;
    const retryAfter = error instanceof GatewayRefusal ? error.retryAfter : 0;
    const sinceSession = this.#timing.now() - this.#lastSession;
    const delay = isServed
      ? spareLegDelay(this.#failures, this.#timing)
      : reconnectDelay(this.#failures, sinceSession, this.#timing);
    return waiting(retryAfter + delay);
  }
}

// The admission slot of a connection covers its TLS handshake, its authentication and its first bind. It lasts as long as the
// gateway works on one of them, plus a short idle timeout for the agent's next message. An agent that is too slow loses the
// slot, not the connection.

import type { SlotOutcome } from './admission-windows.ts';

/** How long the gateway waits for the agent's next step; milliseconds. Each step takes the agent one round trip. */
const IDLE_TIMEOUT_MS = 3000;

/** A place among the connections that the gateway admits at the same time. */
export class AdmissionSlot {
  readonly #onEnd: (outcome: SlotOutcome) => void;
  #isAdmitted = false;
  #hasEnded = false;
  /** The steps that the gateway is working on. */
  #pendingSteps = 0;
  #idleTimer: NodeJS.Timeout;

  /** @param onEnd runs once, with the outcome of the slot. */
  constructor(onEnd: (outcome: SlotOutcome) => void) {
    this.#onEnd = onEnd;
    this.#idleTimer = this.#startIdleTimer();
  }

  /** Whether the agent has authenticated. */
  get isAdmitted(): boolean {
    return this.#isAdmitted;
  }

  markAdmitted(): void {
    this.#isAdmitted = true;
  }

  /** Stops the idle timeout while the gateway works on a step. @returns the result of the step. */
  async during<T>(step: Promise<T>): Promise<T> {
    clearTimeout(this.#idleTimer);
    this.#pendingSteps++;
    try {
      return await step;
    } finally {
      this.#pendingSteps--;
      if (this.#pendingSteps === 0 && !this.#hasEnded) this.#idleTimer = this.#startIdleTimer();
    }
  }

  /** Frees the slot. Further calls have no effect. */
  end(outcome: SlotOutcome): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#idleTimer);
    this.#onEnd(outcome);
  }

  #startIdleTimer(): NodeJS.Timeout {
    return setTimeout(() => this.end(this.#isAdmitted ? 'used' : 'unused'), IDLE_TIMEOUT_MS).unref();
  }
}

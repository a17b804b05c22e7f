// The turn of a connection: a handshake, an authentication, and the first bind. It lasts for as long as we work on one of
// them, and a little longer for what the agent has to say: who lets us wait loses the turn, not the connection.

import type { SlotOutcome } from './admission-windows.ts';

/** How long an agent may let us wait in its turn; milliseconds. Each step takes it one round trip. */
const IDLE_TIMEOUT_MS = 3000;

export class AdmissionSlot {
  readonly #onEnd: (release: SlotOutcome) => void;
  #isTrusted = false;
  #isOver = false;
  /** Work of ours that is under way. */
  #works = 0;
  #patience: NodeJS.Timeout;

  /** @param onEnd told once, what became of it. */
  constructor(onEnd: (end: SlotOutcome) => void) {
    this.#onEnd = onEnd;
    this.#patience = this.#wait();
  }

  /** Whether the agent was let in. */
  get isAdmitted(): boolean {
    return this.#isTrusted;
  }

  markAdmitted(): void {
    this.#isTrusted = true;
  }

  /** We work, and the agent waits. @returns what the work returns. */
  async during<T>(work: Promise<T>): Promise<T> {
    clearTimeout(this.#patience);
    this.#works++;
    try {
      return await work;
    } finally {
      this.#works--;
      if (this.#works === 0 && !this.#isOver) this.#patience = this.#wait();
    }
  }

  /** It is the next one's turn. May be called twice. */
  end(end: SlotOutcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#patience);
    this.#onEnd(end);
  }

  #wait(): NodeJS.Timeout {
    return setTimeout(() => this.end(this.#isTrusted ? 'used' : 'unused'), IDLE_TIMEOUT_MS).unref();
  }
}

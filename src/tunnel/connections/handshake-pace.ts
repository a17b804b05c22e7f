// The pace of handshakes that are beyond the budget of their address: they get a share of the thread's time, however much each costs.

/** The part of its time that the thread spends on them. */
const SHARE = 1 / 4;
/** The longest pause after one; milliseconds. What took longer was not the handshake alone. */
const PAUSE_MAX_MS = 50;

export class HandshakePace {
  readonly #now: () => number;
  #freeAt = Number.NEGATIVE_INFINITY;

  /** @param now a clock that never goes back, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** How long the next one has to wait; milliseconds. */
  get waitMs(): number {
    return Math.max(0, this.#freeAt - this.#now());
  }

  /** Begins a handshake, and measures it: Node and OpenSSL compute the first answer before anything else is done. */
  run(begin: () => void): void {
    const began = this.#now();
    begin();
    // The socket is read in a tick that `begin` has asked for: this one comes after it.
    process.nextTick(() => {
      const now = this.#now();
      this.#freeAt = now + Math.min(PAUSE_MAX_MS, (now - began) * (1 / SHARE - 1));
    });
  }
}

// Visitors who come one after the other, several at once, and what they get.

import { visit } from './clients.js';

const VISITORS = 4;

export class Visitors {
  served = 0;
  failed = 0;
  /** When a visit was last served or failed; milliseconds of `performance.now()`. */
  lastFailedAt = Number.NaN;
  /** @type {{ moment: number, resolve: (at: number) => void }[]} */
  #waiting = [];
  #isOver = false;
  /** @type {Promise<void[]>} */
  #visitors;

  /**
   * @param {string} url
   * @param {string} listener `host:port`
   * @param {string} expected what a right answer is.
   */
  constructor(url, listener, expected) {
    const come = async () => {
      while (!this.#isOver) {
        const began = performance.now();
        const answer = await visit(url, listener).catch(() => undefined);
        if (answer?.status === 200 && answer.body === expected) this.#onServed(began);
        else {
          this.failed++;
          this.lastFailedAt = performance.now();
          await new Promise((resolve) => setTimeout(resolve, 5)); // Refusals come at once: nobody asks so often.
        }
      }
    };
    this.#visitors = Promise.all(Array.from({ length: VISITORS }, come));
  }

  /** Waits until a visit was served that began after a moment. @param {number} moment @returns {Promise<number>} when. */
  servedAfter(moment) {
    return new Promise((resolve) => this.#waiting.push({ moment, resolve }));
  }

  /** Waits until so many more visits were served. @param {number} count */
  async more(count) {
    const enough = this.served + count;
    while (this.served < enough) await this.servedAfter(performance.now());
  }

  /** What happened since the last call. */
  take() {
    const { served, failed, lastFailedAt } = this;
    this.served = 0;
    this.failed = 0;
    return { served, failed, lastFailedAt };
  }

  async end() {
    this.#isOver = true;
    await this.#visitors;
  }

  /** @param {number} began */
  #onServed(began) {
    this.served++;
    const now = performance.now();
    const met = this.#waiting.filter(({ moment }) => began >= moment);
    this.#waiting = this.#waiting.filter(({ moment }) => began < moment);
    for (const { resolve } of met) resolve(now);
  }
}

// How many turns each address has at once: as many as get on. Agents that share an address often share a slow line or a busy
// machine, too: begun all at once, none of them would be done in time, and what was spent on them would be lost. So it goes
// as with the congestion window of TCP (RFC 5681): one more for each turn that was used, half of them when one was not.

/** Turns of one address. Whoever is far away has the most of them after a few round trips. */
const WINDOW_INITIAL = 32;
const WINDOW_MIN = 8;
const WINDOW_MAX = 256;

interface AdmissionWindow {
  size: number;
  open: number;
  /** How many turns were begun, and how many when it was made smaller: those that were open then say nothing new. */
  begun: number;
  shrunkAt: number;
}

/** What became of a turn. `unused`: the agent did not get on in time. `over`: it went, which says nothing. */
export type SlotOutcome = 'used' | 'unused' | 'over';

export class AdmissionWindows {
  readonly #windows = new Map<string, AdmissionWindow>();
  #open = 0;

  /** Turns that are open. */
  get open(): number {
    return this.#open;
  }

  hasRoom(block: string): boolean {
    const window = this.#windows.get(block);
    return window === undefined || window.open < window.size;
  }

  /** Takes a turn. @returns what gives it back; to be called once. */
  acquire(block: string): (end: SlotOutcome) => void {
    const window = this.#windows.get(block) ?? { size: WINDOW_INITIAL, open: 0, begun: 0, shrunkAt: 0 };
    this.#windows.set(block, window);
    const place = ++window.begun;
    window.open++;
    this.#open++;
    return (end) => {
      window.open--;
      this.#open--;
      if (end === 'used') window.size = Math.min(WINDOW_MAX, window.size + 1);
      if (end === 'unused' && place > window.shrunkAt) {
        window.size = Math.max(WINDOW_MIN, Math.floor(window.size / 2));
        window.shrunkAt = window.begun;
      }
      if (window.open === 0) this.#windows.delete(block);
    };
  }
}

// How many admission slots each address may have at once. Agents that share an address often share a slow line or a busy
// machine. If all of them began at once, none would finish in time, and the gateway's work on them would be wasted. The limit
// adapts as the congestion window of TCP does (RFC 5681): a used slot adds one, an unused slot halves it.

/** Slots of one address. A distant address reaches the maximum after a few round trips. */
const WINDOW_INITIAL = 32;
const WINDOW_MIN = 8;
const WINDOW_MAX = 256;

interface AdmissionWindow {
  size: number;
  open: number;
  /** The number of slots granted so far. */
  granted: number;
  /** `granted` when the window last shrank. Slots from before do not shrink it again, as with one loss event in TCP. */
  grantedAtShrink: number;
}

/** How a slot ended. `unused`: the agent was too slow. `closed`: the connection closed, which does not change the window. */
export type SlotOutcome = 'used' | 'unused' | 'closed';

/** The admission windows of all addresses that have open slots. */
export class AdmissionWindows {
  readonly #windows = new Map<string, AdmissionWindow>();
  #open = 0;

  /** The open slots of all addresses. */
  get open(): number {
    return this.#open;
  }

  hasRoom(block: string): boolean {
    const window = this.#windows.get(block);
    return window === undefined || window.open < window.size;
  }

  /** Acquires a slot. @returns the function that releases it; the caller calls it once. */
  acquire(block: string): (outcome: SlotOutcome) => void {
    const window = this.#windows.get(block) ?? { size: WINDOW_INITIAL, open: 0, granted: 0, grantedAtShrink: 0 };
    this.#windows.set(block, window);
    const sequence = ++window.granted;
    window.open++;
    this.#open++;
    return (outcome) => {
      window.open--;
      this.#open--;
      if (outcome === 'used') window.size = Math.min(WINDOW_MAX, window.size + 1);
      if (outcome === 'unused' && sequence > window.grantedAtShrink) {
        window.size = Math.max(WINDOW_MIN, Math.floor(window.size / 2));
        window.grantedAtShrink = window.granted;
      }
      if (window.open === 0) this.#windows.delete(block);
    };
  }
}

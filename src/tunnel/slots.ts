// How many streams an agent may be given at once. What it cannot take yet waits its turn, and not for long.

import type { AgentKind } from './compatibility.ts';

/** How long a visitor may wait for a stream, in milliseconds. */
const WAIT_MS = 10_000;
/** How many visitors of one session may wait. */
const WAITING_MAX = 10_000;

/** What is counted for each tunnel of a session. */
export interface TunnelLoad {
  /** Streams that the agent has not begun to serve. */
  unserved: number;
}

interface Waiting {
  load: TunnelLoad;
  deadline: NodeJS.Timeout;
  settle(granted: boolean): void;
}

export class Slots {
  readonly #kind: AgentKind;
  #taken = 0;
  #waiting: Waiting[] = [];
  #closed = false;

  constructor(kind: AgentKind) {
    this.#kind = kind;
  }

  /** Takes a slot. @returns whether there is one; a promise while that is not known, which is settled within 10 s. */
  take(load: TunnelLoad): boolean | Promise<boolean> {
    if (this.#closed) return false;
    if (this.#waiting.length === 0 && this.#isFree(load)) {
      this.#grant(load);
      return true;
    }
    if (this.#waiting.length >= WAITING_MAX) return false;
    return new Promise((resolve) => {
      const waiting: Waiting = {
        load,
        deadline: setTimeout(() => {
          this.#waiting = this.#waiting.filter((other) => other !== waiting);
          resolve(false);
        }, WAIT_MS),
        settle: resolve,
      };
      this.#waiting.push(waiting);
    });
  }

  /** The agent has begun to serve a stream. */
  served(load: TunnelLoad): void {
    load.unserved--;
    this.#next();
  }

  /** A stream is over. @param wasServed whether `served` was told of it. */
  release(load: TunnelLoad, wasServed: boolean): void {
    if (!wasServed) load.unserved--;
    const free = () => {
      this.#taken--;
      this.#next();
    };
    if (this.#kind.lingerMs === 0) free();
    else setTimeout(free, this.#kind.lingerMs);
  }

  /** The session is over: whoever waits, waits in vain. */
  close(): void {
    this.#closed = true;
    for (const { deadline, settle } of this.#waiting.splice(0)) {
      clearTimeout(deadline);
      settle(false);
    }
  }

  #isFree(load: TunnelLoad): boolean {
    return this.#taken < this.#kind.streamsMax && load.unserved < this.#kind.unservedMax;
  }

  #grant(load: TunnelLoad): void {
    this.#taken++;
    load.unserved++;
  }

  /** First come, first served; but who waits for one tunnel does not hold up the others. */
  #next(): void {
    if (this.#waiting.length === 0) return;
    const still: Waiting[] = [];
    for (const waiting of this.#waiting) {
      if (!this.#isFree(waiting.load)) {
        still.push(waiting);
        continue;
      }
      this.#grant(waiting.load);
      clearTimeout(waiting.deadline);
      waiting.settle(true);
    }
    this.#waiting = still;
  }
}

// How many streams an agent may be given at once. What it cannot take yet waits its turn, and not for long.

/** How many streams an agent can take. */
export interface StreamLimits {
  /** The streams that it can have open without breaking the session. */
  streamsMax: number;
  /** Streams of one tunnel that it has not begun to serve; more would hold up its other tunnels, and then all of it. */
  unservedMax: number;
  /** How long a stream still counts after its end, in milliseconds: the agent frees it later than we do. */
  lingerMs: number;
}

/** How long a visitor may wait for a stream, in milliseconds. */
const WAIT_TIMEOUT_MS = 10_000;
/** How many visitors of one session may wait. */
const WAITING_MAX = 10_000;

/** After so long one more is tried with a tunnel that serves none, then after twice as long, and so on; milliseconds. */
const TRIAL_MS = 250;

/**
 * What is counted for each tunnel of a session. Agents take the streams of a tunnel in order: when one is being served,
 * those before it are too, or were. One that nobody takes stays in the agent's queue, even when its visitor is gone.
 */
export interface TunnelLoad {
  /** Streams that were granted, and opened. */
  granted: number;
  opened: number;
  /** The last one that the agent has begun to serve. */
  served: number;
  /** How many more than allowed were tried since, and what the next waits for. */
  trials: number;
  trial: NodeJS.Timeout | undefined;
}

export function newTunnelLoad(): TunnelLoad {
  return { granted: 0, opened: 0, served: 0, trials: 0, trial: undefined };
}

interface StreamWaiter {
  load: TunnelLoad;
  deadline: NodeJS.Timeout;
  settle(granted: boolean): void;
}

export class StreamSlots {
  readonly #limits: StreamLimits;
  #taken = 0;
  #waiting: StreamWaiter[] = [];
  #closed = false;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Takes a slot. @returns whether there is one; a promise while that is not known, which is settled within 10 s. */
  acquire(load: TunnelLoad): boolean | Promise<boolean> {
    if (this.#closed) return false;
    if (this.#waiting.length === 0 && this.#isFree(load)) {
      this.#grant(load);
      return true;
    }
    if (this.#waiting.length >= WAITING_MAX) return false;
    return new Promise((resolve) => {
      const waiting: StreamWaiter = {
        load,
        deadline: setTimeout(() => {
          this.#waiting = this.#waiting.filter((other) => other !== waiting);
          resolve(false);
        }, WAIT_TIMEOUT_MS),
        settle: resolve,
      };
      this.#waiting.push(waiting);
      this.#tryLater(load);
    });
  }

  /** The agent has begun to serve a stream. @param place which of those that were opened for the tunnel. */
  markServed(load: TunnelLoad, place: number): void {
    if (place <= load.served) return;
    load.served = place;
    load.trials = 0;
    clearTimeout(load.trial);
    load.trial = undefined;
    this.#next();
  }

  /** A stream is over. */
  release(): void {
    const free = () => {
      this.#taken--;
      this.#next();
    };
    if (this.#limits.lingerMs === 0) free();
    else setTimeout(free, this.#limits.lingerMs);
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
    const unserved = load.granted - load.served;
    return this.#taken < this.#limits.streamsMax && unserved < this.#limits.unservedMax + load.trials;
  }

  #grant(load: TunnelLoad): void {
    this.#taken++;
    load.granted++;
  }

  /** First come, first served; but who waits for one tunnel does not hold up the others. */
  #next(): void {
    if (this.#waiting.length === 0) return;
    const still: StreamWaiter[] = [];
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

  /** That none is served may be the visitors' doing: they came, said nothing, and went. */
  #tryLater(load: TunnelLoad): void {
    if (load.trial || load.granted - load.served < this.#limits.unservedMax) return;
    load.trial = setTimeout(
      () => {
        load.trial = undefined;
        if (!this.#waiting.some((waiting) => waiting.load === load)) return;
        load.trials++;
        this.#next();
        this.#tryLater(load);
      },
      TRIAL_MS * 2 ** load.trials,
    ).unref();
  }
}

// Limits how many streams an agent has at once. Visitors beyond the limit wait for a short time.

/** The limits of an agent for streams. */
export interface StreamLimits {
  /** Streams that the agent can have open without breaking the session. */
  streamsMax: number;
  /** Streams of one tunnel that the agent has not begun to serve. More would block its other tunnels, then the session. */
  unservedMax: number;
  /** How long a stream counts after its end, in milliseconds, because the agent frees it later than the gateway. */
  lingerMs: number;
}

/** How long a visitor may wait for a stream, in milliseconds. */
const WAIT_TIMEOUT_MS = 10_000;
/** Visitors of one session that may wait. */
const WAITING_MAX = 10_000;

/** The delay before the first probe stream to a tunnel that serves none; milliseconds. It doubles with each probe. */
const PROBE_DELAY_MS = 250;

/**
 * The stream counts of one tunnel. Agents accept the streams of a tunnel in order: when they serve one, they have accepted all
 * before it. A stream that the upstream never accepts stays in the agent's queue, even after its visitor has left.
 */
export interface TunnelLoad {
  /** Streams that the limits allowed. */
  granted: number;
  /** Streams that were opened. */
  opened: number;
  /** The sequence number of the last stream that the agent has begun to serve. */
  served: number;
  /** Streams beyond the limit that probed the tunnel since then. */
  probes: number;
  /** Starts the next probe. */
  probeTimer: NodeJS.Timeout | undefined;
}

export function newTunnelLoad(): TunnelLoad {
  return { granted: 0, opened: 0, served: 0, probes: 0, probeTimer: undefined };
}

interface StreamWaiter {
  load: TunnelLoad;
  deadline: NodeJS.Timeout;
  settle(granted: boolean): void;
}

/** Grants the streams of one session. */
export class StreamSlots {
  readonly #limits: StreamLimits;
  #inUse = 0;
  #waiting: StreamWaiter[] = [];
  #closed = false;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Whether no stream is open, and no visitor waits for one. */
  get isIdle(): boolean {
    return this.#inUse === 0 && this.#waiting.length === 0;
  }

  /** Acquires a slot. @returns whether it was granted; a promise of that, which settles within 10 s, when it must wait. */
  acquire(load: TunnelLoad): boolean | Promise<boolean> {
    if (this.#closed) return false;
    if (this.#waiting.length === 0 && this.#isFree(load)) {
      this.#grant(load);
      return true;
    }
    if (this.#waiting.length >= WAITING_MAX) return false;
    return new Promise((resolve) => {
      const waiter: StreamWaiter = {
        load,
        deadline: setTimeout(() => {
          this.#waiting = this.#waiting.filter((other) => other !== waiter);
          resolve(false);
        }, WAIT_TIMEOUT_MS),
        settle: resolve,
      };
      this.#waiting.push(waiter);
      this.#scheduleProbe(load);
    });
  }

  /** Records that the agent has begun to serve a stream. @param sequence the stream's number within the tunnel, from 1. */
  markServed(load: TunnelLoad, sequence: number): void {
    if (sequence <= load.served) return;
    load.served = sequence;
    load.probes = 0;
    clearTimeout(load.probeTimer);
    load.probeTimer = undefined;
    this.#grantWaiting();
  }

  /** Releases the slot of a stream that has ended. */
  release(): void {
    const free = () => {
      this.#inUse--;
      this.#grantWaiting();
    };
    if (this.#limits.lingerMs === 0) free();
    else setTimeout(free, this.#limits.lingerMs);
  }

  /** Refuses all waiting visitors, as the session has ended. */
  close(): void {
    this.#closed = true;
    for (const { deadline, settle } of this.#waiting.splice(0)) {
      clearTimeout(deadline);
      settle(false);
    }
  }

  #isFree(load: TunnelLoad): boolean {
    const unserved = load.granted - load.served;
    return this.#inUse < this.#limits.streamsMax && unserved < this.#limits.unservedMax + load.probes;
  }

  #grant(load: TunnelLoad): void {
    this.#inUse++;
    load.granted++;
  }

  /** Grants slots in order of arrival. A tunnel at its limit does not block the waiters of other tunnels. */
  #grantWaiting(): void {
    if (this.#waiting.length === 0) return;
    const remaining: StreamWaiter[] = [];
    for (const waiter of this.#waiting) {
      if (!this.#isFree(waiter.load)) {
        remaining.push(waiter);
        continue;
      }
      this.#grant(waiter.load);
      clearTimeout(waiter.deadline);
      waiter.settle(true);
    }
    this.#waiting = remaining;
  }

  /**
   * Allows one stream more after a delay. Visitors that connected, sent nothing and left also count as unserved, so the limit
   * alone could block the tunnel for ever.
   */
  #scheduleProbe(load: TunnelLoad): void {
    if (load.probeTimer || load.granted - load.served < this.#limits.unservedMax) return;
    load.probeTimer = setTimeout(
      () => {
        load.probeTimer = undefined;
        if (!this.#waiting.some((waiter) => waiter.load === load)) return;
        load.probes++;
        this.#grantWaiting();
        this.#scheduleProbe(load);
      },
      PROBE_DELAY_MS * 2 ** load.probes,
    ).unref();
  }
}

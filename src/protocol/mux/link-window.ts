// How much of a connection may be in flight, so that a new frame waits a tenth of a second at most behind what was written before it.
//
// TCP takes what it is given, and a slow link then works on megabytes for minutes: heartbeats, the head of an answer and the
// streams of others wait behind them. Node cannot ask TCP to take less (no TCP_NOTSENT_LOWAT), so the session measures: a heartbeat
// that comes back confirms all bytes that were written before it, and says how long they took. While that is longer than the
// round trip of an idle link by more than `QUEUE_MS`, there is a queue, and less may be in flight; as in LEDBAT (RFC 6817), with a
// window that grows like that of TCP (RFC 5681).

/** How long a new frame may wait behind others in the connection; milliseconds. */
const QUEUE_MS = 100;
/** A delay that is a queue for certain, without a second look; milliseconds. */
const LONG_QUEUE_MS = 1000;
/** So many confirmations in a row show a queue that stays. A short one is the burst of a moment, or a busy process. */
const STANDING = 3;
/** The window of a new session, in bytes: about what TCP itself sends before it knows the link (RFC 6928). */
const FIRST_WINDOW = 16 * 1024;
const WINDOW_MIN = 2 * 1024;
/** From here on the window limits nothing: buffers of sessions and kernels are smaller. */
const WINDOW_MAX = 16 * 1024 * 1024;
/** In so many parts a window is confirmed. */
const PARTS = 8;
/** A link with little traffic is asked so often; milliseconds. */
const PROBE_INTERVAL_MS = 1000;
/** For how long the shortest round trip counts as that of the idle link, which may have changed since; milliseconds. */
const MEMORY_MS = 10_000;
/** For how long the highest rate counts as that of the link; milliseconds. A process that was busy for a moment took longer. */
const RATE_MEMORY_MS = 2000;

/** A heartbeat on its way, and what is confirmed when it comes back. */
export interface Probe {
  /** The bytes that were written before it. */
  readonly position: number;
  /** The bytes that were in flight when it was written. */
  readonly inFlight: number;
  readonly sentAt: number;
}

/** A reduction of the window. */
interface Cut {
  /** The window before. */
  readonly window: number;
  /** The round trip that led to it, and by how much it is to be shorter with less in flight; milliseconds. */
  readonly roundTrip: number;
  readonly gain: number;
}

/** The best of the values that were added in the last span of time, or in the one before. */
class RecentBest {
  readonly #span: number;
  readonly #better: (one: number, other: number) => number;
  readonly #none: number;
  #current: number;
  #before: number;
  #since = Number.NEGATIVE_INFINITY;

  /** @param span in milliseconds. @param better the better of two values. @param none worse than any value. */
  constructor(span: number, better: (one: number, other: number) => number, none: number) {
    this.#span = span;
    this.#better = better;
    this.#none = this.#current = this.#before = none;
  }

  get value(): number {
    return this.#better(this.#current, this.#before);
  }

  /** Adds a value. @returns whether a span begins with it. */
  add(value: number, now: number): boolean {
    const age = now - this.#since;
    if (age >= this.#span) {
      this.#before = age < 2 * this.#span ? this.#current : this.#none;
      this.#current = this.#none;
      this.#since = now;
    }
    this.#current = this.#better(this.#current, value);
    return age >= this.#span;
  }

  /** Forgets all values but this one. */
  reset(value: number): void {
    this.#current = this.#before = value;
  }
}

/** The window of one direction of a connection. Without probes it limits nothing. */
export class LinkWindow {
  #window = FIRST_WINDOW;
  /** The bytes that the peer has for certain. */
  #confirmed = Number.POSITIVE_INFINITY;
  /** The position and the time of the last probe. */
  #probed = Number.POSITIVE_INFINITY;
  #probedAt = 0;
  readonly #shortest = new RecentBest(MEMORY_MS, Math.min, Number.POSITIVE_INFINITY);
  /** In bytes a millisecond. */
  readonly #fastest = new RecentBest(RATE_MEMORY_MS, Math.max, 0);
  /** Whether a queue was seen since the link was empty. */
  #hasQueued = false;
  /** Until so many bytes are confirmed, nothing but a probe is written: only an empty link shows its round trip. */
  #drainTo = 0;
  /** The confirmations in a row that showed a queue, and when the last of them came. */
  #standing = 0;
  #standingSeenAt = 0;
  /** The last reduction of the window, until it is known whether it has made the queue shorter. */
  #cut: Cut | undefined;
  /** Whether the window has been reduced: from then on it grows slowly. */
  #knowsLink = false;

  /** The round trip of the idle link, as far as it was seen; milliseconds. */
  get roundTrip(): number | undefined {
    const { value } = this.#shortest;
    return value === Number.POSITIVE_INFINITY ? undefined : value;
  }

  /** The most bytes of one frame: others get their turn between two. */
  frameMax(limit: number): number {
    return this.#confirmed === Number.POSITIVE_INFINITY ? limit : Math.min(limit, Math.ceil(this.#window / PARTS));
  }

  /** The bytes that may be written now. @param written all bytes that were written so far. */
  capacity(written: number): number {
    if (this.#confirmed === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY;
    if (this.#drainTo > this.#confirmed) return 0;
    const rest = this.#window - (written - this.#confirmed);
    // Small frames cost more in headers than they carry.
    return rest * PARTS < this.#window ? 0 : rest;
  }

  /** Whether a probe is to be sent behind what is written now. */
  isProbeDue(written: number, now: () => number): boolean {
    if (this.#drainTo > this.#probed) return true;
    const unprobed = written - this.#probed;
    // While less than half is in flight, nobody waits for what a probe would confirm.
    const isUsed = (written - this.#confirmed) * 2 >= this.#window;
    if (isUsed && unprobed * PARTS >= this.#window) return true;
    return unprobed >= WINDOW_MIN && now() - this.#probedAt >= PROBE_INTERVAL_MS;
  }

  /** Notes a probe. @param written all bytes that were written so far. @returns what `confirm` is told when it came back. */
  probe(written: number, now: number): Probe {
    if (this.#confirmed === Number.POSITIVE_INFINITY) this.#confirmed = written;
    this.#probed = written;
    this.#probedAt = now;
    return { position: written, inFlight: written - this.#confirmed, sentAt: now };
  }

  /** Takes a probe that came back. Probes come back in the order in which they were sent. */
  confirm({ position, inFlight, sentAt }: Probe, written: number, now: number): void {
    const roundTrip = now - sentAt;
    const newly = position - this.#confirmed;
    this.#confirmed = position;
    if (this.#drainTo > 0 && position >= this.#drainTo) {
      this.#drainTo = 0;
      this.#probed = Number.NEGATIVE_INFINITY;
    }
    if (inFlight >= WINDOW_MIN) this.#fastest.add(inFlight / Math.max(roundTrip, 1), now);
    if (this.#shortest.add(roundTrip, now) && this.#hasQueued) {
      this.#drainTo = written;
      this.#hasQueued = false;
    }
    const shortest = this.#shortest.value;
    // A part of the window is written at once, which takes the link its time.
    const longest = QUEUE_MS + shortest / PARTS;
    const queue = roundTrip - shortest;
    if (this.#cut && inFlight <= this.#window) this.#judgeCut(this.#cut, roundTrip, queue);
    // What little is in flight makes no queue.
    const isLoaded = inFlight >= WINDOW_MIN;
    if (isLoaded && queue > longest / 2) this.#hasQueued = true;
    if (isLoaded && queue > longest) this.#noteQueue(roundTrip, inFlight, shortest + longest, now);
    else this.#standing = 0;
    // A window that was not used says nothing about the link.
    if (queue < longest / 2 && inFlight * 2 >= this.#window)
      this.#window = Math.min(this.#window + newly / (this.#knowsLink ? 4 : 1), WINDOW_MAX);
  }

  /** @param wanted the longest round trip that there should be; milliseconds. */
  #noteQueue(roundTrip: number, inFlight: number, wanted: number, now: number): void {
    // What one read brought is one look: the process may have been busy.
    if (now > this.#standingSeenAt) this.#standing++;
    this.#standingSeenAt = now;
    if (this.#cut || (this.#standing < STANDING && roundTrip - wanted < LONG_QUEUE_MS)) return;
    this.#standing = 0;
    const fitting = Math.max(WINDOW_MIN, this.#fastest.value * wanted);
    if (fitting >= this.#window) return;
    const gain = roundTrip * (1 - fitting / inFlight);
    this.#cut = { window: this.#window, roundTrip, gain };
    this.#window = fitting;
    this.#knowsLink = true;
  }

  /**
   * A queue of ours is shorter with less in flight. One that is not comes from elsewhere, as a busy process or other users of the
   * link, and waiting for it would only cost throughput: that is how long a round trip takes now.
   */
  #judgeCut({ window, roundTrip: before, gain }: Cut, roundTrip: number, queue: number): void {
    this.#cut = undefined;
    if (queue <= QUEUE_MS || gain < QUEUE_MS / 2 || before - roundTrip >= gain / 2) return;
    this.#window = Math.max(this.#window, window);
    this.#shortest.reset(roundTrip);
    this.#knowsLink = false;
    this.#hasQueued = true;
  }
}

// Asks the gateway for names: not too often at once, not for too long, and once for all who ask for the same name.

import type { Schedule } from '../runtime/schedule.ts';
import type { NameContent, ZoneNames } from './zone-names.ts';

export interface LookupLimits {
  /** Look-ups at once. */
  lookups: number;
  /** Questions that wait for look-ups. */
  waiting: number;
  /** How long one look-up may take; milliseconds. A question waits for two at most. */
  lookupMs: number;
}

/** The look-ups of one name. */
interface Running {
  current: Promise<NameContent>;
  /** For those who asked while the current one ran. */
  next: Promise<NameContent> | undefined;
}

export class Lookups {
  readonly #names: ZoneNames;
  readonly #limits: LookupLimits;
  readonly #schedule: Schedule;
  readonly #running = new Map<string, Running>();
  #waiting = 0;

  constructor(names: ZoneNames, limits: LookupLimits, schedule: Schedule) {
    this.#names = names;
    this.#limits = limits;
    this.#schedule = schedule;
  }

  /**
   * What there is at a name. Who comes while the name is looked up shares the next look-up, never the current one: it may have
   * read what was there before, and whoever publishes a value must be able to rely on answers to questions that come later.
   * @throws when the gateway cannot say, takes too long, or is asked for too much already.
   */
  async find(name: string): Promise<NameContent> {
    if (this.#waiting >= this.#limits.waiting) throw new Error('too many questions wait for the names of zones');
    this.#waiting++;
    try {
      return await this.#share(name);
    } finally {
      this.#waiting--;
    }
  }

  #share(name: string): Promise<NameContent> {
    const running = this.#running.get(name);
    if (!running) return this.#start(name);
    running.next ??= running.current.then(
      () => this.#start(name),
      () => this.#start(name),
    );
    return running.next;
  }

  #start(name: string): Promise<NameContent> {
    if (this.#running.size >= this.#limits.lookups && !this.#running.has(name))
      return Promise.reject(new Error('too many names of zones are looked up at once'));
    const current = this.#ask(name);
    const running: Running = { current, next: undefined };
    this.#running.set(name, running);
    const forget = () => {
      // Whoever waits for the next look-up takes this one's place.
      if (running.next === undefined) this.#running.delete(name);
    };
    current.then(forget, forget);
    return current;
  }

  /** One look-up. What it says when it is too late is not waited for: it must not hold up the name for ever. */
  #ask(name: string): Promise<NameContent> {
    const { lookupMs } = this.#limits;
    return new Promise((resolve, reject) => {
      const cancel = this.#schedule(lookupMs, () =>
        reject(new Error(`the names of zones were not found within ${lookupMs} ms`)),
      );
      // A failure of the call itself is one of the look-up.
      new Promise<NameContent>((found) => found(this.#names.find(name))).then(resolve, reject).finally(cancel);
    });
  }
}

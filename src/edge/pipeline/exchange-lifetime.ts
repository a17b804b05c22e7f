// What may end an exchange before it is over by itself, such as the end of the visitor's session.

export class ExchangeLifetime {
  #cut: () => void;
  #releases: (() => void)[] | undefined;
  #isOver = false;
  #abort: AbortController | undefined;
  #isAbandoned = false;

  /** @param cut ends the exchange. */
  constructor(cut: () => void) {
    this.#cut = cut;
  }

  /** As `HttpExchange` has it. */
  endWith(hold: (cut: () => void) => () => void): void {
    if (this.#isOver) return;
    const release = hold(() => {
      if (!this.#isOver) this.#cut();
    });
    this.#releases = [...(this.#releases ?? []), release];
  }

  /** Whether nobody waits for what modules decide any more. */
  get isAbandoned(): boolean {
    return this.#isAbandoned;
  }

  /** As `HttpExchange` has it: aborts when the exchange is abandoned. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#isAbandoned) this.#abort.abort();
    return this.#abort.signal;
  }

  /** The visitor has left. */
  abandon(): void {
    this.#isAbandoned = true;
    this.#abort?.abort();
  }

  /** The exchange goes on in another protocol. @param cut ends it from now on. */
  goOn(cut: () => void): void {
    this.#cut = cut;
  }

  /** The exchange is over. */
  over(): void {
    this.#isOver = true;
    for (const release of this.#releases ?? []) release();
    this.#releases = undefined;
  }
}

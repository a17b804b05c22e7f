// Reloads one after the other: what is asked for while one is under way is done next, together.

/** How long to wait before what failed is tried again, in milliseconds. */
const RETRY_MS = 1000;

/** What is to be reloaded: all that is made of these objects, or (null) everything. */
export type Scope = readonly string[] | null;

export interface ReloadQueueOptions {
  work(scope: Scope): Promise<void>;
  /** Told of a failure, but not again before it has worked in between. */
  onFailure(error: unknown): void;
  /** Milliseconds. */
  retryMs?: number;
}

interface Batch {
  ids: Set<string> | null;
  /** Called when it is done. */
  waiting: (() => void)[];
}

export class ReloadQueue {
  readonly #options: ReloadQueueOptions;
  #next: Batch | undefined;
  #isRunning = false;
  #isFailing = false;
  #isClosed = false;
  #retry: { timer: NodeJS.Timeout; go(): void } | undefined;

  constructor(options: ReloadQueueOptions) {
    this.#options = options;
  }

  /** @returns what settles once a reload that began after this call is done. Never rejects: it is tried until it works. */
  ask(scope: Scope): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#add({ ids: scope && new Set(scope), waiting: [resolve] });
      if (!this.#isRunning) void this.#run();
    });
  }

  /** Nothing is reloaded any more; nobody is left waiting. */
  close(): void {
    this.#isClosed = true;
    this.#retry?.go();
    settle(this.#next);
    this.#next = undefined;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let batch = this.#take(); batch; batch = this.#take()) {
      try {
        await this.#options.work(batch.ids && [...batch.ids]);
        this.#isFailing = false;
        settle(batch);
      } catch (error) {
        if (this.#isClosed) settle(batch);
        else await this.#failed(batch, error);
      }
    }
    this.#isRunning = false;
  }

  async #failed(batch: Batch, error: unknown): Promise<void> {
    this.#add(batch);
    if (!this.#isFailing) this.#options.onFailure(error);
    this.#isFailing = true;
    await new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#retry = undefined;
        resolve();
      };
      const timer = setTimeout(go, this.#options.retryMs ?? RETRY_MS).unref();
      this.#retry = { timer, go };
    });
  }

  #take(): Batch | undefined {
    const batch = this.#next;
    this.#next = undefined;
    return batch;
  }

  #add({ ids, waiting }: Batch): void {
    const next = this.#next;
    if (!next) {
      this.#next = { ids, waiting };
      return;
    }
    next.ids = next.ids && ids && new Set([...next.ids, ...ids]);
    next.waiting.push(...waiting);
  }
}

function settle(batch: Batch | undefined): void {
  for (const done of batch?.waiting ?? []) done();
}

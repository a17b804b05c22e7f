// The pool of the embedded database, which has one connection. Callers get it in the order of their requests, except urgent ones.

import pg from 'pg';

type Done = Parameters<pg.Pool['connect']>[0] & {};

export class SingleConnectionPool extends pg.Pool {
  #waiting: Done[] = [];
  #isTaken = false;

  /** @param config the configuration of the connection. */
  constructor(config: Omit<pg.PoolConfig, 'max'>) {
    super({ ...config, max: 1 });
    // The base class has an accessor here, which its types declare as a property.
    Object.defineProperty(this, 'waitingCount', { get: () => this.#waiting.length });
    this.on('release', () => {
      this.#isTaken = false;
      process.nextTick(() => this.#next()); // The pool puts the connection back after this event.
    });
  }

  /** Runs a statement next, as soon as the connection is released. */
  async queryNext(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const client = await new Promise<pg.PoolClient>((resolve, reject) => {
      const done: Done = (error, client) => (client ? resolve(client) : reject(error));
      this.#waiting.unshift(done);
      this.#next();
    });
    let broken: Error | undefined;
    try {
      return await client.query(text, values);
    } catch (error) {
      broken = error as Error;
      throw error;
    } finally {
      client.release(broken instanceof pg.DatabaseError ? undefined : broken);
    }
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<pg.PoolClient> | undefined {
    if (done) {
      this.#waiting.push(done);
      this.#next();
      return undefined;
    }
    return new Promise((resolve, reject) =>
      this.connect((error, client) => (client ? resolve(client) : reject(error ?? new Error('no connection')))),
    );
  }

  #next(): void {
    if (this.#isTaken) return;
    const first = this.#waiting.shift();
    if (!first) return;
    this.#isTaken = true;
    super.connect((error, client, release) => {
      if (!client) {
        this.#isTaken = false;
        process.nextTick(() => this.#next());
      }
      first(error, client, release);
    });
  }
}

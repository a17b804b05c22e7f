// Has the BEGIN of a transaction travel with its first statement: one round trip less for each.

import type { Duplex } from 'node:stream';
import pg from 'pg';

const BEGUN = { command: 'BEGIN', rowCount: null, oid: 0, fields: [], rows: [] };

/**
 * A client of the `pg` driver that sends statements without waiting for the answers of those before, and holds BEGIN back until the
 * next statement. Its answer is not waited for: a BEGIN fails with its connection alone, and what follows it then fails with that.
 */
export class PipelinedClient extends pg.Client {
  #isBegun = false;

  constructor(config?: string | pg.ClientConfig) {
    super({
      ...(typeof config === 'string' ? { connectionString: config } : config),
      pipeline: true,
    } as pg.ClientConfig);
  }

  override query: pg.Client['query'] = (...args: unknown[]): never => {
    const [statement] = args;
    const text = typeof statement === 'string' ? statement : (statement as pg.QueryConfig | undefined)?.text;
    const query = super.query as (...args: unknown[]) => unknown;
    if (text === 'BEGIN' && args.length === 1 && !this.#isBegun) {
      this.#isBegun = true;
      this.#stream.cork();
      (query.apply(this, args) as Promise<unknown>).catch((error) => this.#stream.destroy(error));
      return Promise.resolve(BEGUN) as never;
    }
    const answer = query.apply(this, args);
    if (this.#isBegun) {
      this.#isBegun = false;
      this.#stream.uncork();
    }
    return answer as never;
  };

  get #stream(): Duplex {
    return (this as unknown as { connection: { stream: Duplex } }).connection.stream;
  }
}

// Finds connections of the pool whose server is gone. A failover that sends no RST leaves them open, and a statement on one
// would wait for ever. A connection that receives nothing for a while is verified over another connection.

import type { Socket } from 'node:net';
import pg from 'pg';

/** How often connections are checked, in milliseconds. */
const CHECK_INTERVAL_MS = 500;
/** After so many checks without a received byte, the server is asked whether it still works on the statement. */
const SUSPECT_CHECKS = 3;
/** After so many, the connection is closed whatever the server says: its own statement timeout is shorter. */
const GIVE_UP_CHECKS = 70;
/** How long connecting, and the query, may take, in milliseconds. */
const QUERY_TIMEOUT_MS = 2000;

interface Watched {
  client: pg.PoolClient;
  /** The id of the server's process. */
  pid: number;
  /** Whether the connection is checked out of the pool. */
  isCheckedOut: boolean;
  /** The bytes received at the last check, and the number of checks in a row without more. */
  bytesRead: number;
  idleChecks: number;
}

export class LostConnections {
  readonly #connectionString: string;
  readonly #watched = new Map<pg.PoolClient, Watched>();
  readonly #timer: NodeJS.Timeout;
  readonly #hasPooler: boolean;
  #isVerifying = false;

  /**
   * Watches the connections given to `add`, until `stop`.
   * @param hasPooler whether the connections lead to a pooler, which runs each transaction in another process of the server: then
   *   nothing can be asked about them, and they are only given up.
   */
  constructor(connectionString: string, hasPooler: boolean) {
    this.#connectionString = connectionString;
    this.#hasPooler = hasPooler;
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref();
  }

  /** Follows which connections of a pool are checked out, and which are removed. */
  listen(pool: pg.Pool): void {
    const isTaken = (client: pg.PoolClient, taken: boolean) => {
      const watched = this.#watched.get(client);
      if (watched) watched.isCheckedOut = taken;
    };
    pool.on('acquire', (client) => isTaken(client, true));
    pool.on('release', (_error, client) => isTaken(client, false));
    pool.on('remove', (client) => this.#watched.delete(client));
  }

  /** Watches a new connection. @param pid the id of the server's process. */
  add(client: pg.PoolClient, pid: number): void {
    this.#watched.set(client, { client, pid, isCheckedOut: true, bytesRead: 0, idleChecks: 0 });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const suspects: Watched[] = [];
    for (const watched of this.#watched.values()) {
      const { bytesRead } = socketOf(watched.client);
      const isStill = waitsForServer(watched.client) && bytesRead === watched.bytesRead;
      watched.bytesRead = bytesRead;
      watched.idleChecks = isStill ? watched.idleChecks + 1 : 0;
      if (watched.idleChecks >= GIVE_UP_CHECKS) socketOf(watched.client).destroy();
      else if (watched.idleChecks >= SUSPECT_CHECKS && !this.#hasPooler) suspects.push(watched);
    }
    if (suspects.length > 0 && !this.#isVerifying) void this.#verify(suspects);
  }

  async #verify(suspects: readonly Watched[]): Promise<void> {
    this.#isVerifying = true;
    // Connections that are opened from now on are as healthy as the one that asks.
    const known = [...this.#watched.values()];
    try {
      const busy = await this.#busyPids(suspects.map(({ pid }) => pid));
      // An answer that was on its way has arrived by now.
      const lost = suspects.filter(
        ({ client, pid, bytesRead: read, idleChecks: quiet }) =>
          quiet >= SUSPECT_CHECKS && socketOf(client).bytesRead === read && !busy.has(pid),
      );
      for (const { client } of lost) socketOf(client).destroy();
      // Idle connections are most likely lost as well. The pool opens others when they are needed.
      if (lost.length > 0)
        for (const { client, isCheckedOut: isTaken } of known) if (!isTaken) socketOf(client).destroy();
    } catch {
      // No server answers, so closing connections would gain nothing.
    } finally {
      this.#isVerifying = false;
    }
  }

  /** Which of these server processes still work on a statement. */
  async #busyPids(pids: number[]): Promise<Set<number>> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      application_name: 'gateway watch',
      connectionTimeoutMillis: QUERY_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
    });
    client.on('error', () => {}); // The query fails as well.
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(
        // With `track_activities` off the state is `disabled`: then it is enough that the process exists.
        `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1) AND state IN ('active', 'fastpath function call', 'disabled')`,
        [pids],
      );
      return new Set(rows.map(({ pid }) => pid));
    } finally {
      client.end().catch(() => {});
    }
  }
}

/** The socket of a connection, which pg-pool itself uses to end it. */
function socketOf(client: pg.PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/** Whether a statement was sent whose answer is not complete. */
function waitsForServer(client: pg.PoolClient): boolean {
  return (client as unknown as { readyForQuery: boolean }).readyForQuery === false;
}

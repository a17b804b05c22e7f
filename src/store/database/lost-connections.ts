// Connections of the pool whose server is gone. A failover that sends no RST leaves them open: nobody tells us, and a
// statement on one would wait for ever. What gets no byte for a while is asked about over another connection.

import type { Socket } from 'node:net';
import pg from 'pg';

/** How often connections are looked at; milliseconds. */
const LOOK_MS = 500;
/** After so many looks without a byte, the server is asked whether it works on the statement still. */
const ASK_LOOKS = 3;
/** After so many, the connection is given up, whether a server answers or not; it ends statements itself before. */
const GIVE_UP_LOOKS = 70;
/** How long connecting and asking may take; milliseconds. */
const PATIENCE_MS = 2000;

interface Watched {
  client: pg.PoolClient;
  /** Of the server's process. */
  pid: number;
  /** Whether somebody has it now. */
  isTaken: boolean;
  /** Bytes that it had received at the last look, and how often in a row there were no more. */
  read: number;
  quiet: number;
}

export class LostConnections {
  readonly #connectionString: string;
  readonly #watched = new Map<pg.PoolClient, Watched>();
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;

  /** Looks after the connections that `add` names, until `stop`. */
  constructor(connectionString: string) {
    this.#connectionString = connectionString;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Hears what becomes of a pool's connections. */
  listen(pool: pg.Pool): void {
    const isTaken = (client: pg.PoolClient, taken: boolean) => {
      const watched = this.#watched.get(client);
      if (watched) watched.isTaken = taken;
    };
    pool.on('acquire', (client) => isTaken(client, true));
    pool.on('release', (_error, client) => isTaken(client, false));
    pool.on('remove', (client) => this.#watched.delete(client));
  }

  /** Looks after a connection that has just been made. @param pid of the server's process. */
  add(client: pg.PoolClient, pid: number): void {
    this.#watched.set(client, { client, pid, isTaken: true, read: 0, quiet: 0 });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const suspects: Watched[] = [];
    for (const watched of this.#watched.values()) {
      const { bytesRead } = socketOf(watched.client);
      const isStill = waitsForServer(watched.client) && bytesRead === watched.read;
      watched.read = bytesRead;
      watched.quiet = isStill ? watched.quiet + 1 : 0;
      if (watched.quiet >= GIVE_UP_LOOKS) socketOf(watched.client).destroy();
      else if (watched.quiet >= ASK_LOOKS) suspects.push(watched);
    }
    if (suspects.length > 0 && !this.#isAsking) void this.#ask(suspects);
  }

  async #ask(suspects: readonly Watched[]): Promise<void> {
    this.#isAsking = true;
    // A connection that comes from now on is as good as the one that asks.
    const known = [...this.#watched.values()];
    try {
      const working = await this.#workingOf(suspects.map(({ pid }) => pid));
      // An answer that was under way has come by now.
      const lost = suspects.filter(
        ({ client, pid, read, quiet }) =>
          quiet >= ASK_LOOKS && socketOf(client).bytesRead === read && !working.has(pid),
      );
      for (const { client } of lost) socketOf(client).destroy();
      // Those that nobody has went the same way, most likely; others are opened when they are needed.
      if (lost.length > 0) for (const { client, isTaken } of known) if (!isTaken) socketOf(client).destroy();
    } catch {
      // No server answers: nothing would be won.
    } finally {
      this.#isAsking = false;
    }
  }

  /** Which of the server's processes work on a statement. */
  async #workingOf(pids: number[]): Promise<Set<number>> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      application_name: 'gateway watch',
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
    });
    client.on('error', () => {}); // What is asked fails then.
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number }>(
        // A server that does not track what it does (`disabled`) is taken at its word that the process exists.
        `SELECT pid FROM pg_stat_activity WHERE pid = ANY($1) AND state IN ('active', 'fastpath function call', 'disabled')`,
        [pids],
      );
      return new Set(rows.map(({ pid }) => pid));
    } finally {
      client.end().catch(() => {});
    }
  }
}

/** What pg-pool itself ends a connection by. */
function socketOf(client: pg.PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/** Whether a statement was sent whose answer is not complete. */
function waitsForServer(client: pg.PoolClient): boolean {
  return (client as unknown as { readyForQuery: boolean }).readyForQuery === false;
}

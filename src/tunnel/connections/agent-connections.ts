// The connections of the agent listener: their limits, and the order in which the gateway admits them. After an outage all
// agents reconnect at once, and each needs a handshake, an authentication and a bind. Connections therefore wait in a queue for
// an admission slot, so that the gateway finishes the admissions that it has begun. A connection enters the queue with its
// first TLS record.

import type { Socket } from 'node:net';
import { addressBlock, connectionKey, copyProxiedPeer, ipOf } from '../network/peer.ts';
import { AdmissionSlot } from './admission-slot.ts';
import { AdmissionWindows } from './admission-windows.ts';
import { FairQueue } from './fair-queue.ts';
import { type FirstRecord, readFirstRecord } from './first-record.ts';
import { HandshakeBudgets, HandshakePace } from './handshake-limits.ts';
import { LimitedSet } from './limited-set.ts';

/**
 * Connections that have not sent anything yet may be half of all, and those of one address a quarter. The limits are this high
 * because agents that reconnect all at once are slow to send.
 */
const SILENT_SHARE = 1 / 2;
const SILENT_SHARE_PER_ADDRESS = 1 / 4;
/** Connections whose slot expired before they authenticated, in all and of one address. */
const EXPIRED_MAX = 1024;
const EXPIRED_PER_ADDRESS = 512;
/** How long either set may exceed its limits, as the first bytes of a new connection may still arrive; milliseconds. */
const TRIM_DELAY_MS = 250;
/** Connections that wait for a slot, in all and of one address. */
const WAITING_MAX = 10_000;
const WAITING_PER_ADDRESS = 5000;
/** Slots at once. With agents that are 200 ms away the gateway admits 300 in a second. */
const SLOTS_MAX = 256;
/**
 * Handshakes of one address that did not lead to an agent. Beyond this budget it gets a share of the thread's time only. All slots may
 * be agents of one address that are still on their way.
 */
const FAILED_BUDGET = { burst: 2 * SLOTS_MAX, perSecond: 20 };
/** How long a connection may take to send its first record; milliseconds. */
const FIRST_RECORD_TIMEOUT_MS = 10_000;
/**
 * Before the handshake the gateway cannot send a retry delay. It holds a refused connection open instead, for a random time
 * between these limits (milliseconds), which slows down agents that redial at once. `REFUSED_MAX` limits held connections.
 */
const REFUSAL_DELAY_MS = { min: 1000, max: 3000 };
const REFUSED_MAX = 1024;

interface PendingConnection {
  readonly socket: Socket;
  /** The key that the TLS socket of the connection has too. */
  readonly key: string;
  readonly block: string;
  record: FirstRecord | undefined;
  slot: AdmissionSlot | undefined;
}

export interface AgentConnectionsOptions {
  /** The limit for all connections of the listener. */
  max: number;
  /** Starts TLS on a socket, which has all received bytes in its read buffer. */
  startTls(socket: Socket): void;
  /** Runs when a connection was evicted or refused. */
  onRefused(): void;
  /** A clock that never goes back, in milliseconds; that of the process when left out. */
  now?: () => number;
}

/** Admits the connections of the agent listener, in fair order and within limits. */
export class AgentConnections {
  readonly #options: AgentConnectionsOptions;
  readonly #all = new Map<string, PendingConnection>();
  /** When there are too many, the gateway evicts the oldest. */
  readonly #silent: LimitedSet<PendingConnection>;
  readonly #expired = new LimitedSet<PendingConnection>(EXPIRED_MAX, EXPIRED_PER_ADDRESS);
  readonly #waiting = new FairQueue<PendingConnection>();
  readonly #refused = new Set<Socket>();
  readonly #windows = new AdmissionWindows();
  readonly #budgets: HandshakeBudgets;
  readonly #pace: HandshakePace;
  #paceTimer: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #trimTimer: NodeJS.Timeout | undefined;

  constructor(options: AgentConnectionsOptions) {
    const { max, now = () => performance.now() } = options;
    this.#options = options;
    this.#budgets = new HandshakeBudgets(FAILED_BUDGET, now);
    this.#pace = new HandshakePace(now);
    this.#silent = new LimitedSet(Math.ceil(max * SILENT_SHARE), Math.ceil(max * SILENT_SHARE_PER_ADDRESS));
  }

  /** Accepts a connection. At the limit it evicts an older one that has not authenticated, or refuses the new one. */
  admit(socket: Socket): void {
    socket.on('error', () => {}); // The 'close' event that follows does the cleanup.
    const { max } = this.#options;
    const block = addressBlock(ipOf(socket));
    if (this.#all.size >= max) this.#evict(this.#silent.oldest ?? this.#expired.oldest);
    if (this.#all.size >= max) return void this.#refuse(socket);
    const connection: PendingConnection = {
      socket,
      key: connectionKey(socket),
      block,
      record: undefined,
      slot: undefined,
    };
    this.#all.set(connection.key, connection);
    this.#add(this.#silent, connection);
    const deadline = setTimeout(() => socket.destroy(), FIRST_RECORD_TIMEOUT_MS);
    socket.once('close', () => {
      clearTimeout(deadline);
      this.#forget(connection);
    });
    readFirstRecord(socket, (record) => {
      clearTimeout(deadline);
      connection.record = record;
      this.#queue(connection);
    });
  }

  /** The slot of the connection below a TLS socket; undefined when it is closing. Copies the proxied peer to the TLS socket. */
  slotOf(tls: Socket): AdmissionSlot | undefined {
    const connection = this.#all.get(connectionKey(tls));
    if (connection) copyProxiedPeer(tls, connection.socket);
    return connection?.slot;
  }

  /** Closes all connections, the refused ones too. */
  close(): void {
    for (const { socket } of this.#all.values()) socket.destroySoon();
    for (const socket of this.#refused) socket.destroy();
  }

  #queue(connection: PendingConnection): void {
    const { block, socket } = connection;
    this.#silent.remove(connection);
    if (this.#waiting.size >= WAITING_MAX || this.#waiting.sizeOf(block) >= WAITING_PER_ADDRESS) {
      connection.record?.consume();
      this.#forget(connection);
      return void this.#refuse(socket);
    }
    this.#waiting.add(block, connection);
    this.#serveNext();
  }

  /** Grants one slot in each iteration of the event loop, so that many handshakes do not delay other work. */
  #serveNext(): void {
    if (this.#isScheduled || this.#windows.open >= SLOTS_MAX || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const { waitMs } = this.#pace;
      const isFree = (block: string) => waitMs === 0 || this.#budgets.has(block);
      const connection = this.#waiting.next((block) => this.#windows.hasRoom(block) && isFree(block));
      if (!connection) return this.#serveAfter(waitMs); // So does the next slot that ends.
      this.#grantSlot(connection);
      this.#serveNext();
    });
  }

  #serveAfter(ms: number): void {
    if (ms === 0 || this.#paceTimer) return;
    this.#paceTimer = setTimeout(() => {
      this.#paceTimer = undefined;
      this.#serveNext();
    }, ms).unref();
  }

  #grantSlot(connection: PendingConnection): void {
    const { socket, record, block } = connection;
    const release = this.#windows.acquire(block);
    const isWithinBudget = this.#budgets.spend(block);
    const slot = new AdmissionSlot((outcome) => {
      release(outcome);
      if (isWithinBudget && slot.isAdmitted) this.#budgets.refund(block);
      // A connection that has not authenticated by now may be evicted, as one that has sent nothing.
      if (!slot.isAdmitted && this.#all.get(connection.key) === connection) this.#add(this.#expired, connection);
      this.#serveNext();
    });
    connection.slot = slot;
    socket.unshift(record?.consume());
    const begin = () => this.#options.startTls(socket);
    if (isWithinBudget) begin();
    else this.#pace.run(begin);
  }

  #add(set: LimitedSet<PendingConnection>, connection: PendingConnection): void {
    set.add(connection.block, connection);
    if (set.isOverLimit) this.#trimSoon();
  }

  /** Delays the trim, because Node accepts many connections in a row before it reads what they have sent. */
  #trimSoon(): void {
    this.#trimTimer ??= setTimeout(() => setImmediate(() => this.#trim()), TRIM_DELAY_MS).unref();
  }

  #trim(): void {
    this.#trimTimer = undefined;
    for (const set of [this.#silent, this.#expired])
      for (const connection of set.removeExcess()) this.#evict(connection);
  }

  /** Forgets the connection at once, because its 'close' event comes later. */
  #evict(connection: PendingConnection | undefined): void {
    if (!connection) return;
    this.#forget(connection);
    this.#options.onRefused();
    connection.socket.destroy();
  }

  #forget(connection: PendingConnection): void {
    // A new connection with the same addresses and ports may have replaced this one.
    if (this.#all.get(connection.key) === connection) this.#all.delete(connection.key);
    this.#silent.remove(connection);
    this.#expired.remove(connection);
    this.#waiting.remove(connection.block, connection);
    connection.slot?.end('closed');
  }

  #refuse(socket: Socket): void {
    this.#options.onRefused();
    if (this.#refused.size >= REFUSED_MAX) return void socket.destroy();
    this.#refused.add(socket.pause());
    const { min, max } = REFUSAL_DELAY_MS;
    const timer = setTimeout(() => socket.destroy(), min + Math.random() * (max - min));
    socket.once('close', () => {
      clearTimeout(timer);
      this.#refused.delete(socket);
    });
  }
}

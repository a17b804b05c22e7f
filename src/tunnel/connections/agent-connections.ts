// The connections of the agent listener: how many there may be, and which of them is served next. After an outage all agents
// come back at once, and each needs a handshake, an authentication and a bind. So connections wait in a queue for an admission
// slot, and what was begun is finished. A connection that has sent nothing is not in the queue.

import type { Socket } from 'node:net';
import { addressBlock, connectionKey, copyProxiedPeer, ipOf } from '../network/peer.ts';
import { AdmissionSlot } from './admission-slot.ts';
import { AdmissionWindows } from './admission-windows.ts';
import { FairQueue } from './fair-queue.ts';
import { type FirstRecord, readFirstRecord } from './first-record.ts';
import { LimitedSet } from './limited-set.ts';

/**
 * Connections that have not said anything yet may be a half of all, and those of one address a quarter: agents that come all
 * at once are slow themselves.
 */
const SILENT_SHARE = 1 / 2;
const SILENT_SHARE_PER_ADDRESS = 1 / 4;
/** Connections whose slot is used up and that have not authenticated, in all and of one address. */
const EXPIRED_MAX = 1024;
const EXPIRED_PER_ADDRESS = 512;
/** How long there may be more of either: what a new one has to say is on its way; milliseconds. */
const TRIM_DELAY_MS = 250;
/** Connections that wait for a slot, likewise. */
const WAITING_MAX = 10_000;
const WAITING_PER_ADDRESS = 5000;
/** Slots at once: of agents that are 200 ms away, 300 are admitted in a second. */
const SLOTS_MAX = 256;
/** How long a connection may take for its first record; milliseconds. */
const FIRST_RECORD_TIMEOUT_MS = 10_000;
/**
 * Before a handshake there is no way to say when to come back. A refused connection is kept open instead, for a random time
 * between these, so that an agent that redials at once does not come often; milliseconds. So many are kept at most.
 */
const REFUSAL_MS = { least: 1000, most: 3000 };
const REFUSED_MAX = 1024;

interface PendingConnection {
  readonly socket: Socket;
  /** Finds the connection from its TLS socket. */
  readonly key: string;
  readonly block: string;
  record: FirstRecord | undefined;
  slot: AdmissionSlot | undefined;
}

export interface AgentConnectionsOptions {
  /** Connections of the listener in all. */
  max: number;
  /** Speaks TLS on a socket, whose bytes are in it. */
  startTls(socket: Socket): void;
  /** Told when a connection had to go, or was not taken. */
  onRefused(): void;
}

export class AgentConnections {
  readonly #options: AgentConnectionsOptions;
  readonly #all = new Map<string, PendingConnection>();
  /** Of these, the one that has had the most time goes when there are too many. */
  readonly #silent: LimitedSet<PendingConnection>;
  readonly #expired = new LimitedSet<PendingConnection>(EXPIRED_MAX, EXPIRED_PER_ADDRESS);
  readonly #waiting = new FairQueue<PendingConnection>();
  readonly #refused = new Set<Socket>();
  readonly #windows = new AdmissionWindows();
  #isScheduled = false;
  #trimming: NodeJS.Timeout | undefined;

  constructor(options: AgentConnectionsOptions) {
    const { max } = options;
    this.#options = options;
    this.#silent = new LimitedSet(Math.ceil(max * SILENT_SHARE), Math.ceil(max * SILENT_SHARE_PER_ADDRESS));
  }

  /** Takes a connection, for which an older one may have to go that is no agent's; or refuses it, where there is no room. */
  admit(socket: Socket): void {
    socket.on('error', () => {}); // That it is closed is enough.
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

  /** The slot of the connection that TLS was begun on; undefined when the connection is being closed. Both sockets have the same peer. */
  slotOf(tls: Socket): AdmissionSlot | undefined {
    const connection = this.#all.get(connectionKey(tls));
    if (connection) copyProxiedPeer(tls, connection.socket);
    return connection?.slot;
  }

  /** Closes all that are there. */
  close(): void {
    for (const { socket } of this.#all.values()) socket.destroySoon();
    for (const socket of this.#refused) socket.destroy();
  }

  #queue(connection: PendingConnection): void {
    const { block, socket } = connection;
    this.#silent.remove(connection);
    if (this.#waiting.size >= WAITING_MAX || this.#waiting.sizeOf(block) >= WAITING_PER_ADDRESS) {
      connection.record?.take();
      this.#forget(connection);
      return void this.#refuse(socket);
    }
    this.#waiting.add(block, connection);
    this.#serveNext();
  }

  /** Grants one slot in each turn of the event loop, so that nothing else waits for many handshakes. */
  #serveNext(): void {
    if (this.#isScheduled || this.#windows.open >= SLOTS_MAX || this.#waiting.size === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const connection = this.#waiting.next((block) => this.#windows.hasRoom(block));
      if (!connection) return; // The next slot that ends calls this again.
      this.#grantSlot(connection);
      this.#serveNext();
    });
  }

  #grantSlot(connection: PendingConnection): void {
    const { socket, record } = connection;
    const release = this.#windows.acquire(connection.block);
    const slot = new AdmissionSlot((end) => {
      release(end);
      // One that has not authenticated is no better than one that has sent nothing.
      if (!slot.isAdmitted && this.#all.get(connection.key) === connection) this.#add(this.#expired, connection);
      this.#serveNext();
    });
    connection.slot = slot;
    socket.unshift(record?.take());
    this.#options.startTls(socket);
  }

  #add(set: LimitedSet<PendingConnection>, connection: PendingConnection): void {
    set.add(connection.block, connection);
    if (set.isOverLimit) this.#trimSoon();
  }

  /** Not at once: of a thousand that are accepted in one go, what they have sent already is read after that. */
  #trimSoon(): void {
    this.#trimming ??= setTimeout(() => setImmediate(() => this.#trim()), TRIM_DELAY_MS).unref();
  }

  #trim(): void {
    this.#trimming = undefined;
    for (const set of [this.#silent, this.#expired]) for (const connection of set.takeExcess()) this.#evict(connection);
  }

  /** That it is closed is told later; it counts no more from now on. */
  #evict(connection: PendingConnection | undefined): void {
    if (!connection) return;
    this.#forget(connection);
    this.#options.onRefused();
    connection.socket.destroy();
  }

  /** Another with the same ends may have come meanwhile. */
  #forget(connection: PendingConnection): void {
    if (this.#all.get(connection.key) === connection) this.#all.delete(connection.key);
    this.#silent.remove(connection);
    this.#expired.remove(connection);
    this.#waiting.remove(connection.block, connection);
    connection.slot?.end('over');
  }

  #refuse(socket: Socket): void {
    this.#options.onRefused();
    if (this.#refused.size >= REFUSED_MAX) return void socket.destroy();
    this.#refused.add(socket.pause());
    const { least, most } = REFUSAL_MS;
    const end = setTimeout(() => socket.destroy(), least + Math.random() * (most - least));
    socket.once('close', () => {
      clearTimeout(end);
      this.#refused.delete(socket);
    });
  }
}

// What gateway processes on one database tell each other: changes, and messages by topic. A bus carries it.

import type { Logger } from 'pino';
import type { Db } from '../database/client.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { BusClient } from './bus-client.ts';
import type { ChangeVersions } from './change-versions.ts';
import type { Change, ChangeRelay, Changes } from './changes.ts';
import type { PeerBus } from './peer-bus.ts';
import { type PeerMessage, packChanges, readPeerMessage } from './peer-message.ts';
import { PeerOutbox } from './peer-outbox.ts';
import { NOTIFY_CHANNEL, NOTIFY_MAX_BYTES } from './postgres-bus.ts';

export interface PeerRelayDeps {
  bus: PeerBus;
  /** The id of this process: its own messages are not heard. */
  node: string;
  changes: Changes;
  log: Logger;
  /**
   * Finds what the bus has lost; changes of configuration are then sent over the bus, after their commit. Undefined: they are sent
   * by NOTIFY within their transaction, and the bus must be the server's.
   */
  versions?: ChangeVersions | undefined;
}

/**
 * Hears the changes of other processes and sends ours. When some may have been lost, of which a new connection is one sign, it calls
 * `changes.reportGap`.
 */
export class PeerRelay implements ChangeRelay {
  readonly #bus: PeerBus;
  readonly #node: string;
  readonly #changes: Changes;
  readonly #log: Logger;
  readonly #versions: ChangeVersions | undefined;
  readonly #client: BusClient;
  readonly #outbox: PeerOutbox;
  readonly #topics = new Map<string, (body: object) => unknown>();
  #received = 0;

  constructor({ bus, node, changes, log, versions }: PeerRelayDeps) {
    this.#bus = bus;
    this.#node = node;
    this.#changes = changes;
    this.#log = log;
    this.#versions = versions;
    const events = {
      onConnected: () => this.#connected(),
      onMessage: (text: string) => this.#receive(text),
    };
    this.#client = new BusClient(bus, JSON.stringify({ node } satisfies PeerMessage), events, log);
    this.#outbox = new PeerOutbox(node, this.#client, bus.maxBytes);
    changes.connect(this);
  }

  /** Whether changes of other processes currently reach this one. */
  get isConnected(): boolean {
    return this.#client.isConnected;
  }

  /** Why changes of other processes are not heard; null when they are. */
  get reasonNotReady(): string | null {
    return this.isConnected ? null : this.#bus.lostText;
  }

  /** The name of the bus, and how many changes were sent after their commit, received, and dropped. */
  get statistics() {
    return { bus: this.#bus.name, ...this.#outbox.counters, received: this.#received };
  }

  /** Connects. It resolves after the first attempt, whether that succeeds or not; further attempts follow. */
  async start(): Promise<void> {
    await this.#client.start();
    this.#versions?.start();
  }

  noticeOf(changes: Change[]): Prisma.Sql | undefined {
    if (this.#versions) return undefined;
    const texts = packChanges(this.#node, [{ changes }], NOTIFY_MAX_BYTES);
    return Prisma.sql`SELECT pg_notify(${NOTIFY_CHANNEL}, message) FROM unnest(${texts}::text[]) AS message`;
  }

  async sendConfiguration(tx: Db, changes: Change[]): Promise<() => void> {
    const version = await this.#versions?.next(tx);
    return () => {
      if (version === undefined) return;
      this.#versions?.hear(version);
      this.#outbox.add({ changes, version }, true);
    };
  }

  sendHints(changes: Change[]): void {
    this.#outbox.add({ changes });
  }

  /**
   * Sends a message to all other processes at once, outside any transaction. Processes that do not listen at this moment never
   * get it.
   * @param body under 7,000 bytes as JSON.
   * @throws when there is no connection to the bus.
   */
  async sendMessage(topic: string, body: object): Promise<void> {
    await this.#client.publish(JSON.stringify({ node: this.#node, word: { topic, body } } satisfies PeerMessage));
  }

  /** Sets the listener for messages of other processes by topic. Each topic has one listener. */
  onMessage(topic: string, listener: (body: object) => unknown): void {
    this.#topics.set(topic, listener);
  }

  /** Sends what waits, within half a second, and closes the connection. */
  async close(): Promise<void> {
    this.#versions?.stop();
    await this.#outbox.close();
    this.#client.close();
  }

  #connected(): void {
    this.#changes.reportGap();
    this.#outbox.flush();
  }

  #receive(text: string): void {
    const message = readPeerMessage(text);
    if (!message) return void this.#log.warn({ length: text.length }, 'malformed message of another gateway dropped');
    const { node, changes, versions, gap, word } = message;
    if (node === this.#node) return;
    if (changes) {
      this.#received += changes.length;
      void this.#changes.publish(changes);
    }
    for (const version of versions ?? []) this.#versions?.hear(version);
    if (gap) this.#changes.reportGap();
    if (word) void this.#dispatch(word.topic, word.body);
  }

  async #dispatch(topic: string, body: object): Promise<void> {
    try {
      await this.#topics.get(topic)?.(body);
    } catch (error) {
      this.#log.warn({ topic, err: error }, 'message of another node could not be handled');
    }
  }
}

// Messages between gateway processes on one PostgreSQL server, over LISTEN/NOTIFY: changes, and messages by topic.

import { Socket } from 'node:net';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Change, ChangeRelay, Changes } from './changes.ts';
import { type PeerMessage, readPeerMessage } from './peer-message.ts';

const CHANNEL = 'gateway_changes';
/** The server refuses payloads of 8,000 bytes; a change has under 200. */
const CHANGES_PER_MESSAGE = 30;
const RETRY_MS = 1000;
/** How often a process notifies itself over the connection that it listens on, in milliseconds. */
const HEARTBEAT_MS = 1000;
/** After so many heartbeats in a row without an echo, the connection counts as lost, even if its socket is open. */
const MISSED_HEARTBEATS_MAX = 2;
/** How long connecting, and each statement on the connection, may take, in milliseconds. */
const QUERY_TIMEOUT_MS = 3000;

/**
 * Listens for the changes of other processes and sends ours. A lost connection, also one that went silent, is reopened without
 * limit. Notifications sent meanwhile are lost, so `changes.reportGap` is called whenever listening starts again.
 */
export class Notifications implements ChangeRelay {
  readonly #url: string;
  readonly #node: string;
  readonly #changes: Changes;
  readonly #log: Logger;
  readonly #topics = new Map<string, (body: object) => unknown>();
  #client: pg.Client | undefined;
  #socket: Socket | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(url: string, node: string, changes: Changes, log: Logger) {
    this.#url = url;
    this.#node = node;
    this.#changes = changes;
    this.#log = log;
    changes.connect(this);
  }

  /** Whether changes of other processes currently reach this one. */
  get isListening(): boolean {
    return this.#client !== undefined;
  }

  async start(): Promise<void> {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'gateway listener',
      keepAlive: true,
      connectionTimeoutMillis: QUERY_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      stream: () => socket,
    });
    let heartbeat: NodeJS.Timeout | undefined;
    let missedHeartbeats = 0;
    let isLost = false;
    const lost = () => {
      if (isLost) return; // A lost connection emits both an error and an end.
      isLost = true;
      clearInterval(heartbeat);
      client.removeAllListeners('notification');
      socket.destroy();
      const wasListening = this.#client === client;
      if (wasListening) this.#client = undefined;
      if (this.#closed) return;
      if (wasListening) this.#log.warn('LISTEN connection to the database lost');
      this.#retry = setTimeout(
        () => {
          this.#retry = undefined;
          void this.start();
        },
        wasListening ? 0 : RETRY_MS,
      ).unref();
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => {
      missedHeartbeats = 0;
      this.#receive(payload ?? '');
    });
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch {
      return lost();
    }
    if (isLost) return;
    if (this.#closed) return lost();
    this.#client = client;
    this.#socket = socket;
    heartbeat = setInterval(() => {
      if (missedHeartbeats++ >= MISSED_HEARTBEATS_MAX) lost();
      else this.#notify(client, {}).catch(() => {}); // It counts as a missed heartbeat.
    }, HEARTBEAT_MS).unref();
    this.#changes.reportGap();
  }

  async send(tx: Parameters<ChangeRelay['send']>[0], changes: Change[]): Promise<void> {
    const messages: string[] = [];
    for (let i = 0; i < changes.length; i += CHANGES_PER_MESSAGE) {
      const message: PeerMessage = { node: this.#node, changes: changes.slice(i, i + CHANGES_PER_MESSAGE) };
      messages.push(JSON.stringify(message));
    }
    await tx.$executeRaw`SELECT pg_notify(${CHANNEL}, message) FROM unnest(${messages}::text[]) AS message`;
  }

  /**
   * Sends a message to all other processes at once, outside any transaction, over a connection of its own. Processes that do not
   * listen at this moment never get it.
   * @param body under 7,000 bytes as JSON.
   * @throws when the database server is not connected.
   */
  async sendMessage(topic: string, body: object): Promise<void> {
    if (!this.#client) throw new Error('not connected to the other gateways');
    await this.#notify(this.#client, { word: { topic, body } });
  }

  /** Sets the listener for messages of other processes by topic. Each topic has one listener. */
  onMessage(topic: string, listener: (body: object) => unknown): void {
    this.#topics.set(topic, listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#socket?.destroy();
  }

  async #notify(client: pg.Client, message: Omit<PeerMessage, 'node'>): Promise<void> {
    const payload = JSON.stringify({ node: this.#node, ...message } satisfies PeerMessage);
    await client.query('SELECT pg_notify($1, $2)', [CHANNEL, payload]);
  }

  #receive(payload: string): void {
    const message = readPeerMessage(payload);
    if (!message) return void this.#log.warn({ length: payload.length }, 'malformed notification dropped');
    const { node, changes, word } = message;
    if (node === this.#node) return;
    if (changes) void this.#changes.publish(changes);
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

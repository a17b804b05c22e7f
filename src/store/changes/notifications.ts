// What gateway processes on one PostgreSQL server tell each other, over LISTEN/NOTIFY: changes, and words of other kinds.

import { Socket } from 'node:net';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Change, ChangeRelay, Changes } from './changes.ts';
import { type PeerMessage, readPeerMessage } from './peer-message.ts';

const CHANNEL = 'gateway_changes';
/** The server refuses payloads of 8,000 bytes; a change has under 200. */
const CHANGES_PER_MESSAGE = 30;
const RETRY_MS = 1000;
/** How often a process says something to itself over the connection that it listens on; milliseconds. */
const HEARTBEAT_MS = 1000;
/** So many heartbeats in a row that do not come back mean that the connection is lost, however well it looks. */
const SILENT_MAX = 2;
/** How long connecting, and each statement on the connection, may take; milliseconds. */
const PATIENCE_MS = 3000;

/**
 * Listens for the changes of other processes and relays ours. A lost connection, also one that went silent, is opened
 * again for ever; what was said meanwhile is lost, so `changes.gap` is called when listening begins anew.
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

  /** Whether other processes' changes reach this one now. */
  get listening(): boolean {
    return this.#client !== undefined;
  }

  async start(): Promise<void> {
    const socket = new Socket();
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'gateway listener',
      keepAlive: true,
      connectionTimeoutMillis: PATIENCE_MS,
      query_timeout: PATIENCE_MS,
      stream: () => socket,
    });
    let heartbeat: NodeJS.Timeout | undefined;
    let unheard = 0;
    let isLost = false;
    const lost = () => {
      if (isLost) return; // An error and an end tell of the same.
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
      unheard = 0;
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
      if (unheard++ >= SILENT_MAX) lost();
      else this.#notify(client, {}).catch(() => {}); // It was not heard, then.
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
   * Says something to all other processes, at once and whatever transaction is under way: it has a connection of its own.
   * @param body under 7,000 bytes as JSON.
   * @throws when the server is away. What is said is not kept for who does not listen now.
   */
  async say(topic: string, body: object): Promise<void> {
    if (!this.#client) throw new Error('not connected to the other gateways');
    await this.#notify(this.#client, { word: { topic, body } });
  }

  /** Hears what others say of a topic, each of which has one listener. */
  hear(topic: string, listener: (body: object) => unknown): void {
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
    if (word) void this.#pass(word.topic, word.body);
  }

  async #pass(topic: string, body: object): Promise<void> {
    try {
      await this.#topics.get(topic)?.(body);
    } catch (error) {
      this.#log.warn({ topic, err: error }, 'message of another node could not be handled');
    }
  }
}

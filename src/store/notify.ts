// What gateway processes on one PostgreSQL server tell each other, over LISTEN/NOTIFY: changes, and words of other kinds.

import pg from 'pg';
import type { Change, Changes, Relay } from './changes.ts';

const CHANNEL = 'gateway_changes';
/** The server refuses payloads of 8,000 bytes; a change has under 200. */
const CHANGES_PER_MESSAGE = 30;
const RETRY_MS = 1000;

interface Message {
  node: string;
  changes?: Change[];
  /** What a process says besides; `topic` tells who listens. */
  word?: { topic: string; body: object };
}

/**
 * Listens for the changes of other processes and relays ours. A lost connection is opened again for ever; what was
 * said meanwhile is lost, so `changes.gap` and `onGap` are called when listening begins anew.
 */
export class Notifications implements Relay {
  readonly #url: string;
  readonly #node: string;
  readonly #changes: Changes;
  readonly #onGap: () => void;
  readonly #topics = new Map<string, (body: object) => void>();
  #client: pg.Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(url: string, node: string, changes: Changes, onGap: () => void) {
    this.#url = url;
    this.#node = node;
    this.#changes = changes;
    this.#onGap = onGap;
  }

  /** Whether other processes' changes reach this one now. */
  get listening(): boolean {
    return this.#client !== undefined;
  }

  async start(): Promise<void> {
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'gateway listener',
      keepAlive: true,
    });
    const lost = () => {
      if (this.#client === client) this.#client = undefined;
      client.removeAllListeners('notification');
      if (this.#closed || this.#retry) return;
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        void this.start();
      }, RETRY_MS).unref();
    };
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => this.#receive(payload ?? ''));
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch {
      client.end().catch(() => {});
      return lost();
    }
    if (this.#closed) return void client.end();
    this.#client = client;
    this.#changes.gap();
    this.#onGap();
  }

  async send(tx: Parameters<Relay['send']>[0], changes: Change[]): Promise<void> {
    for (let i = 0; i < changes.length; i += CHANGES_PER_MESSAGE) {
      const message: Message = { node: this.#node, changes: changes.slice(i, i + CHANGES_PER_MESSAGE) };
      await tx.$executeRaw`SELECT pg_notify(${CHANNEL}, ${JSON.stringify(message)})`;
    }
  }

  /**
   * Says something to all other processes, at once and whatever transaction is under way: it has a connection of its own.
   * @param body under 7,000 bytes as JSON.
   * @throws when the server is away. What is said is not kept for who does not listen now.
   */
  async say(topic: string, body: object): Promise<void> {
    if (!this.#client) throw new Error('not connected to the other gateways');
    const message: Message = { node: this.#node, word: { topic, body } };
    await this.#client.query('SELECT pg_notify($1, $2)', [CHANNEL, JSON.stringify(message)]);
  }

  /** Hears what others say of a topic, each of which has one listener. */
  hear(topic: string, listener: (body: object) => void): void {
    this.#topics.set(topic, listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#client?.end().catch(() => {});
  }

  #receive(payload: string): void {
    const { node, changes, word } = JSON.parse(payload) as Message; // Only gateways write to this channel.
    if (node === this.#node) return;
    if (changes) this.#changes.publish(changes);
    if (word) this.#topics.get(word.topic)?.(word.body);
  }
}

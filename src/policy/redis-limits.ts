// Exact rate limits of several nodes: a Redis or Valkey server counts for all of them.

import type { CommandParser } from '@redis/client';
import { withOptionalPackage } from '../runtime/optional-package.ts';
import type { RateLimit } from './rate-limiter.ts';

/** How long connecting may take until the server has counted, and its answer, for which a visitor waits; milliseconds. */
const CONNECT_TIMEOUT_MS = 3000;
const ANSWER_TIMEOUT_MS = 250;
/** How long after a lost connection, or an attempt that failed, it is connected again; milliseconds. */
const RECONNECT_MS = 1000;
const PREFIX = 'gateway:limit:';
/** The stored times of a key at most: with a larger capacity, adjacent ones are merged and count as the last of them. */
const TIMES_MAX = 1000;

/**
 * A sliding log as a list, the oldest entry first: the first and the last time in it, and how many events were counted before it
 * and with it. So the events in the list are the difference of two numbers, and the list is its only key.
 */
const TAKE = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local capacity, window, grain = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local function entry(index)
  local text = redis.call('LINDEX', KEYS[1], index)
  if not text then return nil end
  local first, last, before, after = string.match(text, '(%d+) (%d+) (%d+) (%d+)')
  return { first = tonumber(first), last = tonumber(last), before = tonumber(before), after = tonumber(after) }
end
local oldest = entry(0)
while oldest and now - oldest.last >= window do
  redis.call('LPOP', KEYS[1])
  oldest = entry(0)
end
local newest = oldest and entry(-1) or { before = 0, after = 0 }
if oldest and newest.after - oldest.before >= capacity then
  return math.max(window - (now - oldest.last), 1)
end
local first, before = now, newest.after
if oldest and now - newest.first < grain then
  first, before = newest.first, newest.before
  redis.call('RPOP', KEYS[1])
end
redis.call('RPUSH', KEYS[1], string.format('%.0f %.0f %.0f %.0f', first, now, before, newest.after + 1))
redis.call('PEXPIRE', KEYS[1], window)
return 0
`;

type Limit = Pick<RateLimit, 'capacity' | 'windowMs'>;

/** Called when the server is connected and counts, and when it no longer does or cannot. */
export type OnConnected = (isConnected: boolean, error?: unknown) => void;

/**
 * Connects to the server, again and again.
 * @param url `redis://…`, or `rediss://…` for TLS.
 * @returns at once; until the server is connected, it does not count.
 * @throws {Error} with a message for people when the package is not installed.
 */
export async function openRedisLimits(url: string, onConnected: OnConnected): Promise<RedisLimits> {
  const { createClient, defineScript } = await withOptionalPackage('LIMITS_URL', import('@redis/client'));
  const take = defineScript({
    NUMBER_OF_KEYS: 1,
    SCRIPT: TAKE,
    parseCommand(parser: CommandParser, key: string, { capacity, windowMs }: Limit) {
      parser.pushKey(key);
      const grainMs = capacity <= TIMES_MAX ? 0 : Math.ceil(windowMs / TIMES_MAX);
      parser.push(String(capacity), String(windowMs), String(grainMs));
    },
    transformReply: (reply: unknown) => Number(reply),
  });
  return new RedisLimits(onConnected, () =>
    createClient({
      url,
      scripts: { take },
      disableOfflineQueue: true,
      socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
    }),
  );
}

/** What is used of a client of the server. */
interface Client {
  readonly isOpen: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  take(key: string, limit: Limit): Promise<number>;
}

export class RedisLimits {
  readonly #onConnected: OnConnected;
  readonly #newClient: () => Client;
  /** The client that is connected, or connects. */
  #client: Client | undefined;
  #isConnected = false;
  /** Undefined before the first attempt has ended. */
  #wasConnected: boolean | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(onConnected: OnConnected, newClient: () => Client) {
    this.#onConnected = onConnected;
    this.#newClient = newClient;
    void this.#connect();
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /**
   * Counts an event of a key against a limit over all nodes, by the server's clock.
   * @returns 0 when it is allowed, otherwise the milliseconds until the next one is; undefined when the server does not answer.
   */
  async take(id: string, limit: Limit, key: string): Promise<number | undefined> {
    const client = this.#client;
    if (!client || !this.#isConnected) return undefined;
    return new Promise((resolve) => {
      const fail = (error: unknown) => {
        this.#lose(client, error);
        settle(undefined);
      };
      // The client's own time limits end when a command is sent.
      const deadline = setTimeout(() => fail(new Error(`no answer within ${ANSWER_TIMEOUT_MS} ms`)), ANSWER_TIMEOUT_MS);
      const settle = (wait: number | undefined) => {
        clearTimeout(deadline);
        resolve(wait);
      };
      client.take(`${PREFIX}${id}:${key}`, limit).then(settle, fail);
    });
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#reconnect);
    if (this.#client) this.#lose(this.#client, undefined);
  }

  async #connect(): Promise<void> {
    const client = this.#newClient();
    this.#client = client;
    client.on('error', (error) => this.#lose(client, error));
    // The client itself limits only the time in which the TCP connection is there.
    const late = () => this.#lose(client, new Error(`not connected within ${CONNECT_TIMEOUT_MS} ms`));
    const deadline = setTimeout(late, CONNECT_TIMEOUT_MS);
    try {
      await client.connect();
      // A server that can be connected may still refuse to count: it has no memory left, follows another, or does not allow scripts.
      await client.take(`${PREFIX}check`, { capacity: 1, windowMs: 1 });
    } catch (error) {
      return this.#lose(client, error);
    } finally {
      clearTimeout(deadline);
    }
    if (this.#client !== client) return;
    this.#isConnected = true;
    this.#tell(true);
  }

  /** Gives a client up, with all that wait for it, and connects anew later. */
  #lose(client: Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#isConnected = false;
    if (client.isOpen) client.destroy();
    if (this.#isClosed) return;
    this.#tell(false, error);
    this.#reconnect = setTimeout(() => void this.#connect(), RECONNECT_MS).unref();
  }

  #tell(isConnected: boolean, error?: unknown): void {
    if (isConnected === this.#wasConnected) return;
    this.#wasConnected = isConnected;
    this.#onConnected(isConnected, error);
  }
}

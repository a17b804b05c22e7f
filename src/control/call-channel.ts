// Calls between two processes of one gateway, over a unix socket that only its owner may open. Both sides may call.
//
// A message is its length (32 bits, big-endian) and a value in the format of `node:v8`, which has buffers and `undefined`. Old and new
// generations run beside each other, and this format is one that newer versions of Node read.

import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';

const LENGTH_BYTES = 4;
/** The longest message, in bytes: the configuration of all edges is one. */
const MESSAGE_MAX = 1024 * 1024 * 1024;

/** The functions that one side serves. Arguments and results are plain data; what they throw reaches the caller as text. */
// biome-ignore lint/suspicious/noExplicitAny: the functions of an interface have any arguments.
export type Calls = Record<string, (...args: any[]) => unknown>;

/** A call failed: the other side has answered with an error. */
export class CallFailed extends Error {}
/** The channel was closed before the answer. The call may have been made, or not. */
export class ChannelClosed extends Error {
  constructor() {
    super('the connection to the other process was lost');
  }
}

type Message =
  | { id: number; method: string; args: unknown[] }
  | { id: number; result: unknown }
  | { id: number; error: string };

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** @typeParam Theirs the functions of the other side. */
export class CallChannel<Theirs extends object> {
  readonly #socket: Socket;
  readonly #own: Calls;
  readonly #pending = new Map<number, Pending>();
  readonly #onClosed = new Set<() => void>();
  #lastId = 0;
  /** What was received and belongs to no whole message yet, and how many bytes the next message needs at least. */
  #chunks: Buffer[] = [];
  #bytes = 0;
  #needed = LENGTH_BYTES;
  #isClosed = false;

  /** @param own the functions that the other side may call. */
  constructor(socket: Socket, own: Calls) {
    this.#socket = socket;
    this.#own = own;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#closed());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls the listener once the channel is closed: at once when it is. */
  onClosed(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#onClosed.add(listener);
  }

  /** Calls a function of the other side. @throws {CallFailed} what it throws. @throws {ChannelClosed} */
  call<Method extends keyof Theirs & string>(
    method: Method,
    ...args: Theirs[Method] extends (...args: infer Args) => unknown ? Args : never
  ): Promise<Theirs[Method] extends (...args: never[]) => infer Result ? Awaited<Result> : never> {
    if (this.#isClosed) return Promise.reject(new ChannelClosed());
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject });
      this.#send({ id, method, args });
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(message: Message): void {
    const body = serialize(message);
    const length = Buffer.allocUnsafe(LENGTH_BYTES);
    length.writeUInt32BE(body.length);
    this.#socket.cork();
    this.#socket.write(length);
    this.#socket.write(body);
    this.#socket.uncork();
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return;
    const received = Buffer.concat(this.#chunks);
    let at = 0;
    for (;;) {
      this.#needed = LENGTH_BYTES;
      if (received.length - at < LENGTH_BYTES) break;
      const length = received.readUInt32BE(at);
      if (length > MESSAGE_MAX) return void this.#socket.destroy();
      this.#needed = LENGTH_BYTES + length;
      if (received.length - at < this.#needed) break;
      this.#take(deserialize(received.subarray(at + LENGTH_BYTES, at + this.#needed)) as Message);
      at += this.#needed;
    }
    this.#chunks = [received.subarray(at)];
    this.#bytes = received.length - at;
  }

  #take(message: Message): void {
    if ('method' in message) void this.#answer(message);
    else this.#settle(message);
  }

  async #answer({ id, method, args }: Extract<Message, { method: string }>): Promise<void> {
    let answer: Message;
    try {
      if (!Object.hasOwn(this.#own, method)) throw new Error(`the other process does not know the call ${method}`);
      answer = { id, result: await this.#own[method]?.(...args) };
    } catch (error) {
      answer = { id, error: error instanceof Error ? error.message : String(error) };
    }
    if (!this.#isClosed) this.#send(answer);
  }

  #settle(message: Exclude<Message, { method: string }>): void {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if ('error' in message) pending?.reject(new CallFailed(message.error));
    else pending?.resolve(message.result);
  }

  #closed(): void {
    this.#isClosed = true;
    for (const { reject } of this.#pending.values()) reject(new ChannelClosed());
    this.#pending.clear();
    for (const listener of this.#onClosed) listener();
  }
}

// Bytes both ways between a stream and a socket, as they are.

import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { type ByteStream, ErrorCode, type StreamEvents } from './mux/stream.ts';

/** Bytes that have passed; several relays may add to the same. */
export interface ByteCounters {
  fromSocket: number;
  toSocket: number;
}

export interface RelayHooks {
  counters?: ByteCounters;
  /** Told once, when the socket is closed. @param wasCut whether that was before both sides had ended. */
  onClose?(wasCut: boolean): void;
}

/**
 * Joins the two until both have ended, in each direction by itself, or one breaks, which breaks the other. Whoever is
 * slow slows the other: what waits here is bounded by the stream's window one way, and by what the stream takes before it
 * says stop the other way.
 *
 * The socket may still be connecting (a connection that fails resets the stream with REFUSED) and may hold bytes that it
 * has read; the stream may have been written to before. Both belong to the relay from now on.
 */
export function relay(stream: ByteStream, socket: Socket, hooks: RelayHooks = {}): void {
  new Relay(stream, socket, hooks);
}

/**
 * Closes a socket so that its peer sees a failure and no end: with a RST, or where a TLS socket has no way to send one,
 * without the farewell of TLS.
 */
export function abortSocket(socket: Socket): void {
  // A reset would wait for the connection; and one during a shutdown would fail, and leave the socket open for ever.
  if (socket.connecting || isShuttingDown(socket)) return void socket.destroy();
  try {
    socket.resetAndDestroy();
  } catch {
    socket.destroy();
  }
}

/** Whether everything was sent, and the end is on its way. */
export function isShuttingDown(socket: Socket): boolean {
  return socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
}

const EMPTY = Buffer.alloc(0);
/** Pieces shorter than that are joined where they have to wait: each by itself takes hundreds of bytes, however short. */
const SHORT_BYTES = 1024;
const JOINED_BYTES = 16 * 1024;

// One clock for all writers: the turns of the event loop, counted while something is written.
type WriteTarget = Pick<Writable, 'write' | 'cork' | 'uncork'>;
let tick = 0;
let isTickScheduled = false;
const corked: WriteTarget[] = [];

function endTick(): void {
  tick++;
  isTickScheduled = false;
  for (const sink of corked) sink.uncork();
  corked.length = 0;
}

/**
 * Writes joined per turn of the event loop: the first one is sent at once, which is what a small answer needs; what follows
 * in the same turn goes out in one write at its end, which is what a large one needs.
 */
export class CoalescingWriter {
  readonly #sink: WriteTarget;
  /** The turns of the last write, and of the last cork. */
  #wroteIn = -1;
  #corkedIn = -1;

  constructor(sink: WriteTarget) {
    this.#sink = sink;
  }

  write(bytes: Buffer): void {
    const sink = this.#sink;
    if (this.#wroteIn !== tick) {
      this.#wroteIn = tick;
      if (!isTickScheduled) {
        isTickScheduled = true;
        setImmediate(endTick);
      }
    } else if (this.#corkedIn !== tick) {
      this.#corkedIn = tick;
      sink.cork();
      corked.push(sink);
    }
    sink.write(bytes);
  }
}

class Relay implements StreamEvents {
  readonly #stream: ByteStream;
  readonly #socket: Socket;
  readonly #writer: CoalescingWriter;
  readonly #hooks: RelayHooks;
  readonly #traffic: ByteCounters;
  /** Bytes that the socket has not taken, and that the stream's peer gets no new credit for. */
  #held = 0;
  /** Short pieces behind what the socket has not taken. */
  #joined: Buffer | undefined;
  #joinedBytes = 0;
  #isConnected: boolean;
  #sentEnd = false;
  #gotEnd = false;
  #isBroken = false;

  constructor(stream: ByteStream, socket: Socket, hooks: RelayHooks) {
    this.#stream = stream;
    this.#socket = socket;
    this.#writer = new CoalescingWriter(socket);
    this.#hooks = hooks;
    this.#traffic = hooks.counters ?? { fromSocket: 0, toSocket: 0 };
    stream.events = this;
    socket.allowHalfOpen = true;
    socket.on('data', (chunk: Buffer) => this.#fromSocket(chunk));
    socket.on('drain', () => {
      this.#writeJoined();
      this.#taken();
    });
    socket.on('end', () => this.#endOfSocket());
    this.#isConnected = !socket.connecting;
    socket.on('connect', () => {
      this.#isConnected = true;
    });
    socket.on('error', () => this.#break(ErrorCode.RESET));
    if (socket.closed) this.#closed();
    else socket.on('close', () => this.#closed());
    if (socket.readableEnded) this.#endOfSocket();
    socket.resume();
  }

  onData(chunk: Buffer): void {
    const socket = this.#socket;
    this.#held += chunk.length;
    this.#traffic.toSocket += chunk.length;
    if (this.#joined || (chunk.length < SHORT_BYTES && socket.writableNeedDrain)) return void this.#join(chunk);
    this.#writer.write(chunk);
    // Above the mark, the socket is sure to say when all is written. Below it, what waits is too little to matter.
    if (socket.writableLength < socket.writableHighWaterMark) this.#taken();
  }

  onEnd(): void {
    this.#gotEnd = true;
    this.#writeJoined();
    this.#socket.end();
  }

  onReset(): void {
    this.#isBroken = true;
    abortSocket(this.#socket);
  }

  onDrain(): void {
    this.#socket.resume();
  }

  #fromSocket(chunk: Buffer): void {
    this.#traffic.fromSocket += chunk.length;
    if (!this.#stream.write(chunk)) this.#socket.pause();
  }

  /** The socket is sure to say when it has taken what it was given before. */
  #join(chunk: Buffer): void {
    if (chunk.length >= SHORT_BYTES || this.#joinedBytes + chunk.length > JOINED_BYTES) this.#writeJoined();
    if (chunk.length >= SHORT_BYTES) return void this.#writer.write(chunk);
    this.#joined ??= Buffer.allocUnsafe(JOINED_BYTES);
    chunk.copy(this.#joined, this.#joinedBytes);
    this.#joinedBytes += chunk.length;
  }

  #writeJoined(): void {
    if (!this.#joined) return;
    this.#writer.write(this.#joined.subarray(0, this.#joinedBytes));
    this.#joined = undefined;
    this.#joinedBytes = 0;
  }

  #taken(): void {
    const held = this.#held;
    if (held === 0) return;
    this.#held = 0;
    this.#stream.consumed(held);
  }

  /** Node tells of a reset that comes together with bytes as of an end. To write nothing fails then, and does nothing else. */
  #endOfSocket(): void {
    const socket = this.#socket;
    const canAsk = socket.writable && socket.writableLength === 0 && !('encrypted' in socket);
    if (!canAsk) return void this.#endOfStream();
    socket.write(EMPTY, (error) => {
      if (!error) this.#endOfStream();
    });
  }

  #endOfStream(): void {
    if (this.#sentEnd || this.#isBroken) return;
    this.#sentEnd = true;
    this.#stream.end();
  }

  #closed(): void {
    const wasCut = this.#isBroken || !this.#sentEnd || !this.#gotEnd;
    if (wasCut) this.#break(ErrorCode.CANCELLED);
    this.#hooks.onClose?.(wasCut);
  }

  #break(code: ErrorCode): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#stream.reset(this.#isConnected ? code : ErrorCode.REFUSED);
  }
}

// Relays bytes between a stream and a socket, in both directions and unchanged.

import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { type ByteStream, ErrorCode, type StreamEvents } from './mux/stream.ts';

/** The bytes that were relayed. Several relays may share one object. */
export interface ByteCounters {
  fromSocket: number;
  toSocket: number;
}

/** Is told of what comes from the socket of a relay, and of what goes there. */
export interface RelayWatch {
  onFromSocket(chunk: Buffer): void;
  onToSocket(chunk: Buffer): void;
}

/** What a relay reports, and where it counts. */
export interface RelayHooks {
  counters?: ByteCounters;
  watch?: RelayWatch | undefined;
  /** Called once, when the socket is closed. @param wasCut whether it closed before both sides had ended. */
  onClose?(wasCut: boolean): void;
}

/**
 * Relays until both sides have ended, each direction by itself. A side that breaks breaks the other. A slow reader slows
 * down its writer: the stream's window bounds what is buffered in one direction, and the return value of the stream's
 * `write` in the other.
 *
 * The socket may still be connecting (the stream is reset with REFUSED when that fails) and may have buffered bytes; the
 * stream may have been written to before. From now on only the relay uses either of them.
 */
export function relay(stream: ByteStream, socket: Socket, hooks: RelayHooks = {}): void {
  new Relay(stream, socket, hooks);
}

/**
 * Closes a socket so that its peer sees a failure instead of an end: with a TCP RST, or where a TLS socket cannot send one,
 * without the close_notify alert of TLS (RFC 8446, section 6.1).
 */
export function abortSocket(socket: Socket): void {
  // While the socket connects, Node delays a reset until it is connected. During a shutdown a reset fails and leaves the
  // socket open for ever.
  if (socket.connecting || isShuttingDown(socket)) return void socket.destroy();
  try {
    socket.resetAndDestroy();
  } catch {
    socket.destroy();
  }
}

/** Whether all bytes were sent and the shutdown is under way. */
export function isShuttingDown(socket: Socket): boolean {
  return socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
}

/**
 * To be called when a socket tells of its end. Node reports a reset that arrives together with data as an end. An empty write fails
 * then; otherwise it has no effect.
 * @param onEnd called when it is one.
 */
export function onSocketEnd(socket: Socket, onEnd: () => void): void {
  const canProbe = socket.writable && socket.writableLength === 0 && !('encrypted' in socket);
  if (!canProbe) return void onEnd();
  socket.write(EMPTY, (error) => {
    if (!error) onEnd();
  });
}

const EMPTY = Buffer.alloc(0);
/** Chunks shorter than this are merged when they have to wait: each buffered chunk costs hundreds of bytes of memory. */
const SMALL_CHUNK_BYTES = 1024;
const MERGE_BUFFER_BYTES = 16 * 1024;

// All writers share one clock: the iterations of the event loop, which are counted only while something is written.
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
 * Coalesces the writes of one iteration of the event loop. The first is sent at once, so that a small response is not
 * delayed, unless more of the same message is known to follow. The others of the same iteration are sent as one write at its end,
 * which makes a large response cheap.
 */
export class CoalescingWriter {
  readonly #sink: WriteTarget;
  /** The iterations of the last write and of the last cork. */
  #lastWriteTick = -1;
  #lastCorkTick = -1;

  constructor(sink: WriteTarget) {
    this.#sink = sink;
  }

  /** @param isPart whether more of the same message follows, which may have come already: TLS hands on 16 KiB at a time. */
  write(bytes: Buffer, isPart = false): void {
    const sink = this.#sink;
    const isFirst = this.#lastWriteTick !== tick;
    if (isFirst) {
      this.#lastWriteTick = tick;
      if (!isTickScheduled) {
        isTickScheduled = true;
        setImmediate(endTick);
      }
    }
    if ((!isFirst || isPart) && this.#lastCorkTick !== tick) {
      this.#lastCorkTick = tick;
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
  readonly #counters: ByteCounters;
  /** Bytes that the socket has not written yet, for which the stream's peer therefore gets no new credit. */
  #unconsumed = 0;
  /** Small chunks that wait behind bytes that the socket has not written yet. */
  #merged: Buffer | undefined;
  #mergedBytes = 0;
  #isConnected: boolean;
  #endedStream = false;
  #receivedEnd = false;
  #isBroken = false;

  constructor(stream: ByteStream, socket: Socket, hooks: RelayHooks) {
    this.#stream = stream;
    this.#socket = socket;
    this.#writer = new CoalescingWriter(socket);
    this.#hooks = hooks;
    this.#counters = hooks.counters ?? { fromSocket: 0, toSocket: 0 };
    stream.events = this;
    socket.allowHalfOpen = true;
    socket.on('data', (chunk: Buffer) => this.#onSocketData(chunk));
    socket.on('drain', () => {
      this.#writeMerged();
      this.#grantCredit();
    });
    socket.on('end', () => this.#onSocketEnd());
    this.#isConnected = !socket.connecting;
    socket.on('connect', () => {
      this.#isConnected = true;
    });
    socket.on('error', () => this.#break(ErrorCode.RESET));
    if (socket.closed) this.#onSocketClose();
    else socket.on('close', () => this.#onSocketClose());
    if (socket.readableEnded) this.#onSocketEnd();
    socket.resume();
  }

  onData(chunk: Buffer): void {
    const socket = this.#socket;
    this.#unconsumed += chunk.length;
    this.#counters.toSocket += chunk.length;
    this.#hooks.watch?.onToSocket(chunk);
    if (this.#merged || (chunk.length < SMALL_CHUNK_BYTES && socket.writableNeedDrain)) return void this.#merge(chunk);
    this.#writer.write(chunk);
    // Above its high-water mark the socket emits 'drain' once everything is written. Below it, few bytes can be waiting.
    if (socket.writableLength < socket.writableHighWaterMark) this.#grantCredit();
  }

  onEnd(): void {
    this.#receivedEnd = true;
    this.#writeMerged();
    this.#socket.end();
  }

  onReset(): void {
    this.#isBroken = true;
    abortSocket(this.#socket);
  }

  onDrain(): void {
    this.#socket.resume();
  }

  #onSocketData(chunk: Buffer): void {
    this.#counters.fromSocket += chunk.length;
    this.#hooks.watch?.onFromSocket(chunk);
    if (!this.#stream.write(chunk)) this.#socket.pause();
  }

  /** Merges a small chunk with those that wait; the socket emits 'drain' once it has written what came before them. */
  #merge(chunk: Buffer): void {
    if (chunk.length >= SMALL_CHUNK_BYTES || this.#mergedBytes + chunk.length > MERGE_BUFFER_BYTES) this.#writeMerged();
    if (chunk.length >= SMALL_CHUNK_BYTES) return void this.#writer.write(chunk);
    this.#merged ??= Buffer.allocUnsafe(MERGE_BUFFER_BYTES);
    chunk.copy(this.#merged, this.#mergedBytes);
    this.#mergedBytes += chunk.length;
  }

  #writeMerged(): void {
    if (!this.#merged) return;
    this.#writer.write(this.#merged.subarray(0, this.#mergedBytes));
    this.#merged = undefined;
    this.#mergedBytes = 0;
  }

  #grantCredit(): void {
    const bytes = this.#unconsumed;
    if (bytes === 0) return;
    this.#unconsumed = 0;
    this.#stream.consumed(bytes);
  }

  #onSocketEnd(): void {
    onSocketEnd(this.#socket, () => this.#endStream());
  }

  #endStream(): void {
    if (this.#endedStream || this.#isBroken) return;
    this.#endedStream = true;
    this.#stream.end();
  }

  #onSocketClose(): void {
    const wasCut = this.#isBroken || !this.#endedStream || !this.#receivedEnd;
    if (wasCut) this.#break(ErrorCode.CANCELLED);
    this.#hooks.onClose?.(wasCut);
  }

  #break(code: ErrorCode): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#stream.reset(this.#isConnected ? code : ErrorCode.REFUSED);
  }
}

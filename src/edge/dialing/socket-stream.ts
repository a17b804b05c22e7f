// A connected socket as a byte stream, for what is served over the streams of tunnels, too.

import type { Socket } from 'node:net';
import { reportDefect } from '../../protocol/defect.ts';
import { cancelStream } from '../../protocol/mux/mux-stream.ts';
import { type ByteStream, ErrorCode, type StreamEvents } from '../../protocol/mux/stream.ts';
import { abortSocket, CoalescingWriter, onSocketEnd } from '../../protocol/relay.ts';

/** The bytes that may be read and not consumed: no more is read then, and TCP slows the other end down. */
const WINDOW = 256 * 1024;

export class SocketStream implements ByteStream {
  events: StreamEvents;
  readonly #socket: Socket;
  readonly #writer: CoalescingWriter;
  /** Bytes that were read and not consumed. */
  #held = 0;
  #isReading = false;
  #hasEnded = false;
  #isEnded = false;
  #isOver = false;

  /**
   * Takes over a socket that has just connected, with `allowHalfOpen`, and of which nothing was read.
   * @param events hears of it from the next turn of the event loop on, as TLS may have read something already.
   */
  constructor(socket: Socket, events: StreamEvents) {
    this.events = events;
    this.#socket = socket;
    this.#writer = new CoalescingWriter(socket);
    socket.pause();
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('drain', () => this.#tell((events) => events.onDrain()));
    socket.on('end', () => onSocketEnd(socket, () => this.#onEnd()));
    socket.on('error', () => this.#onCut());
    socket.on('close', () => this.#onCut());
    setImmediate(() => {
      this.#isReading = true;
      this.#read();
    });
  }

  write(chunk: Buffer): boolean {
    if (this.#isOver || this.#isEnded) return true;
    this.#writer.write(chunk);
    return !this.#socket.writableNeedDrain;
  }

  end(): void {
    if (this.#isOver || this.#isEnded) return;
    this.#isEnded = true;
    this.#socket.end();
  }

  reset(_code?: ErrorCode): void {
    if (this.#isOver) return;
    this.#isOver = true;
    abortSocket(this.#socket);
  }

  consumed(bytes: number): void {
    this.#held -= bytes;
    this.#read();
  }

  #read(): void {
    if (this.#isReading && !this.#isOver && this.#held < WINDOW && this.#socket.isPaused()) this.#socket.resume();
  }

  #onData(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#held += chunk.length;
    if (this.#held >= WINDOW) this.#socket.pause();
    this.#tell((events) => events.onData(chunk));
  }

  #onEnd(): void {
    if (this.#isOver || this.#hasEnded) return;
    this.#hasEnded = true;
    this.#tell((events) => events.onEnd());
  }

  /** The socket is closed: by both sides, or by neither. */
  #onCut(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#hasEnded || !this.#isEnded) this.#tell((events) => events.onReset(ErrorCode.RESET));
  }

  /** After a defect of its user, the stream is of no use any more. */
  #tell(tell: (events: StreamEvents) => void): void {
    const { events } = this;
    try {
      tell(events);
    } catch (error) {
      reportDefect(error);
      if (this.#isOver) return;
      cancelStream(this);
      this.events = events;
      this.#tell((user) => user.onReset(ErrorCode.RESET));
    }
  }
}

// A visitor's WebSocket whose messages are the bytes of a TCP connection to upstream: the websocket TCP converter.

import type { Socket } from 'node:net';
import { guarded } from '../../protocol/defect.ts';
import { cancelStream, noopStreamEvents } from '../../protocol/mux/mux-stream.ts';
import type { ByteStream, StreamEvents } from '../../protocol/mux/stream.ts';
import { abortSocket, type ByteCounters } from '../../protocol/relay.ts';
import { binaryHead, CloseCode, closeFrame, pongFrame, WebsocketFrameReader } from './frames.ts';

/** How long, after a WebSocket was closed, either side may stand still before it is cut. */
const LINGER_MS = 30_000;

export interface Conversion {
  /** The visitor's connection, behind the answer with 101: unread, or paused. It belongs to the conversion from now on. */
  socket: Socket;
  stream: ByteStream;
  /** What was read of the socket already, and was counted. */
  first: Buffer;
  traffic: ByteCounters;
  lingerMs?: number;
  /** Called once, when the visitor's connection is closed. @param wasCut whether neither side had ended it properly. */
  onClose?(wasCut: boolean): void;
}

/**
 * Joins the two until one of them ends. What comes in messages of either kind goes to upstream, what upstream sends comes
 * in binary messages as it arrives: where messages begin and end means nothing. Upstream's end is a Close with 1000, its
 * failure one with 1011; the visitor's Close is the end for upstream, and a WebSocket that breaks without one is a failure.
 * Whoever is slow slows the other.
 */
export function bridgeWebsocket(conversion: Conversion): void {
  new WebsocketBridge(conversion);
}

class WebsocketBridge implements StreamEvents {
  readonly #socket: Socket;
  readonly #stream: ByteStream;
  readonly #traffic: ByteCounters;
  readonly #lingerMs: number;
  readonly #reader: WebsocketFrameReader;
  /** Bytes that the socket has not taken, and that the stream's peer gets no new credit for. */
  #held = 0;
  /** Whether the stream has as much as it takes for now. */
  #isFull = false;
  #hasSentClose = false;
  /** Whether the visitor has closed it, or upstream has ended. */
  #wasEnded = false;
  #hasUpstreamEnded = false;
  /** Whether nothing goes to the stream any more. */
  #isStreamOver = false;

  constructor({ socket, stream, first, traffic, lingerMs = LINGER_MS, onClose }: Conversion) {
    this.#socket = socket;
    this.#stream = stream;
    this.#traffic = traffic;
    this.#lingerMs = lingerMs;
    this.#reader = new WebsocketFrameReader({
      onData: (chunk) => this.#fromVisitor(chunk),
      onPing: (content) => this.#onPing(content),
      onClose: (code) => this.#onVisitorClose(code),
      onInvalid: (code) => this.#onInvalid(code),
    });
    stream.events = this;
    socket.allowHalfOpen = true;
    socket.on('error', () => {}); // `close` follows.
    socket.on('close', () => {
      this.#giveUp();
      onClose?.(!this.#wasEnded);
    });
    if (socket.destroyed) this.#giveUp();
    this.#reader.take(first);
    const end = () => void socket.destroy();
    const onData = (chunk: Buffer) => {
      traffic.fromSocket += chunk.length;
      this.#reader.take(chunk);
    };
    socket.on('data', guarded(end, onData));
    socket.on(
      'drain',
      guarded(end, () => this.#taken()),
    );
    socket.on('end', () => this.#onVisitorEnd());
    socket.on('timeout', () => abortSocket(socket));
    if (socket.readableEnded) this.#onVisitorEnd();
    if (!this.#isFull) socket.resume();
  }

  onData(chunk: Buffer): void {
    if (this.#hasSentClose) return void this.#stream.consumed(chunk.length);
    const socket = this.#socket;
    this.#held += chunk.length;
    socket.cork();
    this.#write(binaryHead(chunk.length));
    this.#write(chunk);
    socket.uncork();
    // Above the mark, the socket is sure to say when all is written. Below it, what waits is too little to matter.
    if (socket.writableLength < socket.writableHighWaterMark) this.#taken();
  }

  onEnd(): void {
    this.#hasUpstreamEnded = true;
    this.#wasEnded = true;
    this.#close(CloseCode.NORMAL); // Until the visitor answers it, what it sends goes on.
  }

  onReset(): void {
    this.#isStreamOver = true;
    this.#close(CloseCode.FAILED);
    this.#socket.resume();
  }

  onDrain(): void {
    this.#isFull = false;
    this.#socket.resume();
  }

  #fromVisitor(chunk: Buffer): void {
    if (this.#isStreamOver || this.#stream.write(chunk)) return;
    this.#isFull = true;
    this.#socket.pause();
  }

  #onPing(content: Buffer): void {
    const socket = this.#socket;
    // Who does not read gets no more to read: pings need not all be answered (section 5.5.3).
    if (!this.#hasSentClose && socket.writableLength < socket.writableHighWaterMark) this.#write(pongFrame(content));
  }

  #onVisitorClose(code: number): void {
    this.#wasEnded = true;
    this.#close(code);
    this.#socket.end();
    if (!this.#isStreamOver) this.#leave();
  }

  #onInvalid(code: number): void {
    this.#close(code);
    this.#socket.end();
    this.#giveUp();
  }

  /** Without a Close before it, or after one that was answered. */
  #onVisitorEnd(): void {
    this.#giveUp();
    this.#socket.end();
  }

  #close(code: number): void {
    if (this.#hasSentClose) return;
    this.#hasSentClose = true;
    this.#write(closeFrame(code));
    this.#socket.setTimeout(this.#lingerMs);
  }

  /** Ends the stream; what upstream still sends reaches nobody. */
  #leave(): void {
    const stream = this.#stream;
    this.#isStreamOver = true;
    this.#taken();
    stream.end();
    if (this.#hasUpstreamEnded) return;
    const late = setTimeout(() => cancelStream(stream), this.#lingerMs).unref();
    const over = () => clearTimeout(late);
    stream.events = {
      ...noopStreamEvents,
      onData: (chunk) => stream.consumed(chunk.length),
      onEnd: over,
      onReset: over,
    };
  }

  #giveUp(): void {
    if (this.#isStreamOver) return;
    this.#isStreamOver = true;
    cancelStream(this.#stream);
  }

  #write(bytes: Buffer): void {
    this.#traffic.toSocket += bytes.length;
    this.#socket.write(bytes);
  }

  #taken(): void {
    const held = this.#held;
    if (held === 0) return;
    this.#held = 0;
    this.#stream.consumed(held);
  }
}

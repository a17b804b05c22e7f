// A session: many streams over one connection between an agent and the gateway.

import type { Socket } from 'node:net';
import { reportDefect } from '../defect.ts';
import { Flag, FrameType, goAway, ID_MAX, MuxFrameReader, uint32 } from './frame.ts';
import { FrameQueue } from './frame-queue.ts';
import { MuxStream, noopStreamEvents, type StreamCarrier } from './mux-stream.ts';
import { PeerLimits } from './peer-limits.ts';
import type { MuxSessionEvents, MuxSessionOptions } from './session-options.ts';
import { ErrorCode, ProtocolError, type StreamEvents } from './stream.ts';
import { INITIAL_WINDOW, SESSION_WINDOW_MAX, type WindowBudget } from './window.ts';
import { WriteBacklog } from './write-backlog.ts';

/** Data frames are cut to this size, so that streams take turns. */
const FRAME_MAX = 64 * 1024;
/** What may wait for the connection before streams have to: enough to keep it busy, little enough to stay quick. */
const QUEUE_MAX = 512 * 1024;
/** How long a farewell may take to be sent. */
const GO_AWAY_TIMEOUT_MS = 2000;
/** A stream id that nobody has: credit for it means nothing. */
const UNUSED_ID = ID_MAX - 1;

export class MuxSession implements StreamCarrier {
  /** What was agreed on the windows of streams. */
  readonly windowBudget: WindowBudget = { max: INITIAL_WINDOW, left: SESSION_WINDOW_MAX, roundTrip: undefined };
  /** What the peer may do besides: less as long as it is a stranger. */
  readonly limits: PeerLimits;
  /**
   * Set for peers that leave Nagle's algorithm on: their kernel holds back what they send until what they sent before is
   * acknowledged, and ours acknowledges late, unless there is something to send. So something is sent.
   */
  counteractsNagle = false;
  /** What was read and written so far, frames and all. */
  bytesIn = 0;
  bytesOut = 0;
  readonly now: () => number;

  readonly #transport: Socket;
  readonly #events: MuxSessionEvents;
  readonly #reader: MuxFrameReader;
  readonly #streams = new Map<number, MuxStream>();
  /** Streams that wait for room, first come first served. */
  readonly #waiting = new Set<MuxStream>();
  readonly #peerStreamsMax: number;
  readonly #peerParity: number;
  #peerStreams = 0;
  #lastPeerId = 0;
  #nextId: number;
  #closed = false;

  /** Frames of this turn of the event loop. */
  readonly #outbox = new FrameQueue(FRAME_MAX);
  #flushing = false;
  readonly #backlog: WriteBacklog;

  /** @param transport connected, and handed over: the session reads, writes and ends it. */
  constructor(
    transport: Socket,
    events: MuxSessionEvents,
    { role, peerStreamsMax, unauthenticatedLimits, now = () => performance.now() }: MuxSessionOptions,
  ) {
    this.#transport = transport;
    this.#events = events;
    this.#peerStreamsMax = peerStreamsMax;
    this.limits = new PeerLimits(role === 'server', unauthenticatedLimits, now);
    this.#peerParity = role === 'client' ? 0 : 1;
    this.#nextId = role === 'client' ? 1 : 2;
    this.now = now;
    this.#backlog = new WriteBacklog(transport, (message) => this.destroy(ErrorCode.WRITE_TIMEOUT, message));
    this.#reader = new MuxFrameReader({
      onData: (id, piece, opens, ends) => this.#onData(id, piece, opens, ends),
      onReset: (id, code) => this.#streams.get(id)?.receiveReset(code),
      onWindow: (id, increment) => this.#streams.get(id)?.receiveCredit(increment),
      onGoAway: (code, message) => this.destroy(code, message || 'the peer said good-bye'),
    });
    transport.setNoDelay(true);
    transport.on('data', (chunk: Buffer) => this.#read(chunk));
    transport.on('drain', () => {
      this.#backlog.drained();
      this.#resumeWaiting();
    });
    transport.on('end', () => this.destroy(ErrorCode.PEER_EOF, 'the connection was ended'));
    transport.on('error', (error) => this.destroy(ErrorCode.REMOTE_GONE_AWAY, error.message));
    transport.on('close', () => this.destroy(ErrorCode.REMOTE_GONE_AWAY, 'the connection was lost'));
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Streams that are open, of both sides. */
  get size(): number {
    return this.#streams.size;
  }

  /** Opens a stream; the peer hears of it with the first write. @throws when the session is over. */
  open(events: StreamEvents): MuxStream {
    if (this.#closed) throw new Error('the session is over');
    if (this.#nextId >= UNUSED_ID) throw new Error('the session has used up its streams'); // After 2^30 of them.
    const stream = new MuxStream(this, this.#nextId, false, this.windowBudget, events);
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    return stream;
  }

  /** Says good-bye and closes the connection once that is sent. */
  close(code: ErrorCode = ErrorCode.NONE, message = ''): void {
    if (this.#closed) return;
    this.#queue(FrameType.GO_AWAY << 4, 0, goAway(this.#lastPeerId, code, message));
    this.#flush();
    this.#transport.destroySoon();
    setTimeout(() => this.#transport.destroy(), GO_AWAY_TIMEOUT_MS).unref(); // It may never be read.
    this.#finish(code, message);
  }

  /** Gives the connection up as it is. */
  destroy(code: ErrorCode, message: string): void {
    if (this.#closed) return;
    this.#transport.destroy();
    this.#finish(code, message);
  }

  writableBytes(stream: MuxStream): number {
    const room = QUEUE_MAX - this.#outbox.bytes - this.#transport.writableLength;
    if (room > 0) return Math.min(room, FRAME_MAX);
    this.#waiting.add(stream);
    return 0;
  }

  sendData(id: number, body: Buffer, opens: boolean, ends: boolean): void {
    this.limits.countData(body.length);
    this.#queue((FrameType.DATA << 4) | (opens ? Flag.SYN : 0) | (ends ? Flag.FIN : 0), id, body);
  }

  sendReset(id: number, code: ErrorCode): void {
    this.#queue(FrameType.RESET << 4, id, uint32(code));
  }

  sendWindow(id: number, increment: number): void {
    this.#queue(FrameType.WINDOW << 4, id, uint32(increment));
  }

  removeStream(stream: MuxStream): void {
    this.#streams.delete(stream.id);
    this.#waiting.delete(stream);
    if ((stream.id & 1) === this.#peerParity) this.#peerStreams--;
  }

  report(error: unknown): void {
    const { onDefect = reportDefect } = this.#events;
    onDefect(error);
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    this.bytesIn += chunk.length;
    try {
      this.limits.checkBytes(this.bytesIn);
      this.#reader.push(chunk);
      this.limits.checkFraming(this.bytesIn);
    } catch (error) {
      if (error instanceof ProtocolError) this.close(error.code, error.message);
      else this.#defect(error);
      return;
    }
    // A turn may bring megabytes of frames: what they are answered with does not wait for its end.
    if (this.#outbox.bytes > QUEUE_MAX) this.#flush();
    else if (this.counteractsNagle) this.#scheduleFlush();
  }

  #onData(id: number, piece: Buffer, opens: boolean, ends: boolean): void {
    if (this.#closed) return;
    this.limits.countData(piece.length);
    if (opens) this.#accept(id);
    const stream = this.#streams.get(id);
    if (stream) return void stream.receive(piece, ends);
    // What was under way when we reset the stream is dropped: the peer knows. What never was a stream is not.
    const isTheirs = (id & 1) === this.#peerParity;
    if (isTheirs ? id > this.#lastPeerId : id >= this.#nextId) this.sendReset(id, ErrorCode.STREAM_CLOSED);
  }

  #accept(id: number): void {
    if ((id & 1) !== this.#peerParity || id <= this.#lastPeerId)
      throw new ProtocolError(ErrorCode.PROTOCOL, `stream ${id} cannot be opened by you, or was before`);
    this.#lastPeerId = id;
    this.limits.countOpen(this.#peerStreams);
    if (this.#peerStreams >= this.#peerStreamsMax) return void this.sendReset(id, ErrorCode.ACCEPT_QUEUE_FULL);
    const stream = new MuxStream(this, id, true, this.windowBudget, noopStreamEvents);
    this.#streams.set(id, stream);
    this.#peerStreams++;
    this.#events.onStream(stream);
  }

  #queue(typeAndFlags: number, id: number, body: Buffer): void {
    if (this.#closed) return;
    this.#outbox.add(typeAndFlags, id, body);
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      if (this.#outbox.bytes === 0 && this.counteractsNagle) this.sendWindow(UNUSED_ID, 0);
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#outbox.bytes === 0 || this.#transport.destroyed) return;
    const bytes = this.#outbox.take();
    this.bytesOut += bytes.length;
    // Where it was not held up, nobody will be told of room: whoever waited for the queue alone goes on now.
    if (this.#transport.write(bytes)) this.#resumeWaiting();
    else this.#backlog.check();
  }

  #resumeWaiting(): void {
    for (const stream of [...this.#waiting]) {
      this.#waiting.delete(stream);
      this.#guard(() => stream.resume());
    }
  }

  #finish(code: ErrorCode, message: string): void {
    this.#closed = true;
    this.#backlog.end();
    for (const stream of [...this.#streams.values()]) this.#guard(() => stream.receiveReset(ErrorCode.SESSION_CLOSED));
    this.#guard(() => this.#events.onClose(code, message));
  }

  /** Whoever is told something and fails keeps nobody else from being told. */
  #guard(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#defect(error);
    }
  }

  #defect(error: unknown): void {
    this.report(error);
    this.close(ErrorCode.INTERNAL, 'an internal error');
  }
}

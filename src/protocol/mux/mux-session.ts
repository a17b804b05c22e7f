// A mux session: many streams over one connection between an agent and the gateway.

import type { Socket } from 'node:net';
import { reportDefect } from '../defect.ts';
import { Flag, FrameType, goAwayBody, ID_MAX, MuxFrameReader, uint32 } from './frame.ts';
import { FrameQueue } from './frame-queue.ts';
import { LinkWindow, type Probe } from './link-window.ts';
import { MuxStream, noopStreamEvents, type StreamCarrier } from './mux-stream.ts';
import { PeerIds } from './peer-ids.ts';
import { PeerLimits } from './peer-limits.ts';
import type { MuxSessionEvents, MuxSessionOptions } from './session-options.ts';
import { ErrorCode, ProtocolError, type StreamEvents } from './stream.ts';
import { INITIAL_WINDOW, SESSION_WINDOW_MAX, type WindowBudget } from './window.ts';
import { WriteBacklog } from './write-backlog.ts';

/** The largest body of a data frame: a larger one would keep other streams waiting. */
const FRAME_MAX = 64 * 1024;
/** The bytes that may be buffered before streams must wait: enough for throughput, few enough for low latency. */
const WRITE_BUFFER_MAX = 512 * 1024;
/** The same for heartbeats and calls, which data must not keep out. */
const URGENT_BUFFER_MAX = 2 * WRITE_BUFFER_MAX;
/** The time in which a GOAWAY frame must be sent; milliseconds. */
const GO_AWAY_TIMEOUT_MS = 2000;
/** A stream id that is never assigned, so that the peer ignores a window update for it. */
const UNUSED_ID = ID_MAX - 1;

/** One side of a session. It owns the connection, limits the peer and schedules the writes of all streams. */
export class MuxSession implements StreamCarrier {
  /** The negotiated limits of stream windows. */
  readonly windowBudget: WindowBudget = { max: INITIAL_WINDOW, left: SESSION_WINDOW_MAX, roundTrip: undefined };
  /** Further limits of the peer, which are stricter until it is authenticated. */
  readonly limits: PeerLimits;
  /**
   * Set for peers that leave Nagle's algorithm on (RFC 896). Their kernel holds back small segments until the segments
   * before are acknowledged, and our kernel delays acknowledgements unless it has data to send. So every read is
   * answered with data.
   */
  counteractsNagle = false;
  /** The bytes read and written so far, including frame headers. */
  bytesIn = 0;
  bytesOut = 0;
  /** When bytes of the peer arrived last, by `now`; the start of the session before the first. */
  lastReadAt: number;
  /** How much may be in flight. It limits nothing until heartbeats begin. */
  readonly link = new LinkWindow();
  /** Called when a heartbeat is to be written behind what waits to be written. */
  onProbeDue: (() => void) | undefined;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;

  readonly #transport: Socket;
  readonly #events: MuxSessionEvents;
  readonly #reader: MuxFrameReader;
  readonly #streams = new Map<number, MuxStream>();
  /** Streams that wait until more may be written, in the order in which they are served. */
  readonly #waiting = new Set<MuxStream>();
  /** Urgent streams that wait for the buffer alone: what confirms that data has arrived must not wait for that itself. */
  readonly #urgent = new Set<MuxStream>();
  /** The stream that has its turn, and the bytes that it may still write in it. */
  #served: MuxStream | undefined;
  #turn = 0;
  readonly #peerStreamsMax: number;
  readonly #peerParity: 0 | 1;
  readonly #peerIds: PeerIds;
  #peerStreams = 0;
  #nextId: number;
  #closed = false;
  /** The frames of this iteration of the event loop. */
  readonly #frames = new FrameQueue(FRAME_MAX);
  #flushScheduled = false;
  readonly #backlog: WriteBacklog;

  /** @param transport a connected socket. From now on only the session uses it. */
  constructor(transport: Socket, events: MuxSessionEvents, options: MuxSessionOptions) {
    const { role, unauthenticatedLimits, limitsOpens = role === 'server', now = () => performance.now() } = options;
    this.#transport = transport;
    this.#events = events;
    this.#peerStreamsMax = options.peerStreamsMax;
    this.limits = new PeerLimits(limitsOpens, unauthenticatedLimits, now);
    this.#peerParity = role === 'client' ? 0 : 1;
    this.#peerIds = new PeerIds(this.#peerParity);
    this.#nextId = role === 'client' ? 1 : 2;
    this.now = now;
    this.lastReadAt = now();
    this.#backlog = new WriteBacklog(transport, (message) => this.destroy(ErrorCode.WRITE_TIMEOUT, message));
    this.#reader = new MuxFrameReader({
      onData: (id, chunk, opens, ends) => this.#onData(id, chunk, opens, ends),
      onReset: (id, code) => this.#streams.get(id)?.receiveReset(code),
      onWindow: (id, increment) => this.#streams.get(id)?.receiveCredit(increment),
      onGoAway: (code, message) => this.destroy(code, message || 'the peer closed the session'),
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

  /** The bytes of all frames so far, those that wait to be written in this iteration of the event loop, too. */
  get position(): number {
    return this.bytesOut + this.#frames.bytes;
  }

  /** The number of open streams of both sides. */
  get size(): number {
    return this.#streams.size;
  }

  /** Opens a stream. Its first write sends the frame that tells the peer. @throws when the session is closed. */
  open(events: StreamEvents): MuxStream {
    if (this.#closed) throw new Error('the session is closed');
    if (this.#nextId >= UNUSED_ID) throw new Error('the session has used up its streams'); // After 2^30 of them.
    const stream = new MuxStream(this, this.#nextId, false, this.windowBudget, events);
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    return stream;
  }

  /** Closes the session with a GOAWAY frame, and the connection once that is sent. @param message text for people. */
  close(code: ErrorCode = ErrorCode.NONE, message = ''): void {
    if (this.#closed) return;
    this.#queue(FrameType.GO_AWAY << 4, 0, goAwayBody(this.#peerIds.highest, code, message));
    this.#flush();
    this.#transport.destroySoon();
    setTimeout(() => this.#transport.destroy(), GO_AWAY_TIMEOUT_MS).unref(); // The peer may never read it.
    this.#finish(code, message);
  }

  /** Ends the session and the connection at once. The peer gets no GOAWAY frame. */
  destroy(code: ErrorCode, message: string): void {
    if (this.#closed) return;
    this.#transport.destroy();
    this.#finish(code, message);
  }

  writableBytes(stream: MuxStream): number {
    if (stream.isUrgent) {
      if (this.#buffered < URGENT_BUFFER_MAX) return FRAME_MAX;
      this.#urgent.add(stream);
      return 0;
    }
    // Those that wait come first, each with one frame in its turn.
    const isServed = stream === this.#served;
    const turn = isServed ? this.#turn : this.#waiting.size > 0 ? 0 : this.link.frameMax(FRAME_MAX);
    const bytes = Math.min(turn, this.#capacity());
    if (bytes > 0) return bytes;
    this.#waiting.add(stream);
    return 0;
  }

  /** The bytes that may be written now; 0 or less when streams have to wait. */
  #capacity(): number {
    return Math.min(WRITE_BUFFER_MAX - this.#buffered, this.link.capacity(this.position));
  }

  get #buffered(): number {
    return this.#frames.bytes + this.#transport.writableLength;
  }

  sendData(id: number, body: Buffer, opens: boolean, ends: boolean): void {
    this.limits.countData(body.length);
    if (this.#served?.id === id) this.#turn -= body.length;
    this.#queue((FrameType.DATA << 4) | (opens ? Flag.SYN : 0) | (ends ? Flag.FIN : 0), id, body);
  }

  sendReset(id: number, code: ErrorCode): void {
    this.#queue(FrameType.RESET << 4, id, uint32(code));
  }

  sendWindow(id: number, increment: number): void {
    this.#queue(FrameType.WINDOW << 4, id, uint32(increment));
  }

  /** Takes a heartbeat that came back: streams that waited for what it confirms go on. @returns its round trip in milliseconds. */
  confirm(probe: Probe): number {
    const now = this.now();
    this.link.confirm(probe, this.position, now);
    this.windowBudget.roundTrip = this.link.roundTrip;
    if (this.link.isProbeDue(this.position, this.now)) this.onProbeDue?.();
    this.#resumeWaiting();
    return now - probe.sentAt;
  }

  removeStream(stream: MuxStream): void {
    this.#streams.delete(stream.id);
    this.#waiting.delete(stream);
    this.#urgent.delete(stream);
    if ((stream.id & 1) === this.#peerParity) this.#peerStreams--;
  }

  report(error: unknown): void {
    const { onDefect = reportDefect } = this.#events;
    onDefect(error);
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    this.bytesIn += chunk.length;
    this.lastReadAt = this.now();
    try {
      this.limits.checkBytes(this.bytesIn);
      this.#reader.push(chunk);
      this.limits.checkOverhead(this.bytesIn);
    } catch (error) {
      if (error instanceof ProtocolError) this.close(error.code, error.message);
      else this.#closeAfterDefect(error);
      return;
    }
    // One iteration may read megabytes of frames. Their responses are not held back until its end.
    if (this.#frames.bytes > WRITE_BUFFER_MAX) this.#flush();
    else if (this.counteractsNagle) this.#scheduleFlush();
  }

  #onData(id: number, chunk: Buffer, opens: boolean, ends: boolean): void {
    if (this.#closed) return;
    this.limits.countData(chunk.length);
    if (opens) this.#accept(id);
    const stream = this.#streams.get(id);
    if (stream) return void stream.receive(chunk, ends);
    // Data of a stream that we reset was in flight and is dropped. Data of a stream that never existed is answered.
    const isPeerStream = (id & 1) === this.#peerParity;
    if (isPeerStream ? !this.#peerIds.has(id) : id >= this.#nextId) this.sendReset(id, ErrorCode.STREAM_CLOSED);
  }

  #accept(id: number): void {
    if (!this.#peerIds.use(id))
      throw new ProtocolError(ErrorCode.PROTOCOL, `stream ${id} is not the peer's to open, or was opened before`);
    this.limits.countOpen(this.#peerStreams);
    if (this.#peerStreams >= this.#peerStreamsMax) return void this.sendReset(id, ErrorCode.ACCEPT_QUEUE_FULL);
    const stream = new MuxStream(this, id, true, this.windowBudget, noopStreamEvents);
    this.#streams.set(id, stream);
    this.#peerStreams++;
    this.#events.onStream(stream);
  }

  #queue(typeAndFlags: number, id: number, body: Buffer): void {
    if (this.#closed) return;
    this.#frames.add(typeAndFlags, id, body);
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      if (this.#frames.bytes === 0 && this.counteractsNagle) this.sendWindow(UNUSED_ID, 0);
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#frames.bytes === 0 || this.#transport.destroyed) return;
    if (this.link.isProbeDue(this.position, this.now)) this.onProbeDue?.();
    const bytes = this.#frames.take();
    this.bytesOut += bytes.length;
    // After a write that returns true, no 'drain' follows: streams that waited for the queue alone are resumed here.
    if (this.#transport.write(bytes)) this.#resumeWaiting();
    else this.#backlog.check();
  }

  /** Serves the streams that wait, a frame of each in turn, for as long as more may be written. */
  #resumeWaiting(): void {
    if (this.#served) return;
    for (const stream of [...this.#urgent]) {
      this.#urgent.delete(stream);
      this.#guard(() => stream.resume());
    }
    for (const stream of this.#waiting) {
      if (this.#capacity() <= 0) break;
      this.#waiting.delete(stream);
      this.#served = stream;
      this.#turn = this.link.frameMax(FRAME_MAX);
      this.#guard(() => stream.resume());
      this.#served = undefined;
    }
  }

  #finish(code: ErrorCode, message: string): void {
    this.#closed = true;
    this.#backlog.end();
    for (const stream of [...this.#streams.values()]) this.#guard(() => stream.receiveReset(ErrorCode.SESSION_CLOSED));
    this.#guard(() => this.#events.onClose(code, message));
  }

  /** Runs a callback such that an exception in it does not keep the callbacks of others from running. */
  #guard(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#closeAfterDefect(error);
    }
  }

  #closeAfterDefect(error: unknown): void {
    this.report(error);
    this.close(ErrorCode.INTERNAL, 'internal error');
  }
}

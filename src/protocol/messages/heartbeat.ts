// Heartbeats: four bytes that the peer echoes on a stream of their own. A peer counts as online when it has echoed them.

import { randomBytes } from 'node:crypto';
import type { MuxSession } from '../mux/mux-session.ts';
import { type MuxStream, noopStreamEvents } from '../mux/mux-stream.ts';
import { ErrorCode } from '../mux/stream.ts';
import { openTypedStream, StreamType } from './typed-stream.ts';

const BEAT_BYTES = 4;
/** After so many bytes sent since the last heartbeat, the response may be queued behind them. */
const BUSY_BYTES = 64 * 1024;
/** The round trip is the shortest of so many samples: the others were delayed by traffic. */
const SAMPLES = 6;

/** The timing of heartbeats. */
export interface HeartbeatOptions {
  /** The time between a response and the next heartbeat; milliseconds. */
  interval: number;
  /** The time in which the response must arrive; milliseconds. */
  tolerance: number;
  /** Called with each measured round trip, in milliseconds. */
  onBeat?(roundTrip: number): void;
}

/**
 * Sends heartbeats for as long as the session is open, the first at once. It ends the session when a response does not
 * arrive in time: at most `interval + tolerance` after the last one. When a heartbeat may be delayed by our own data on a
 * slow connection, any received data counts as a response.
 */
export function startHeartbeat(session: MuxSession, { interval, tolerance, onBeat }: HeartbeatOptions): void {
  const samples: number[] = [];
  let sent: Buffer = EMPTY;
  let sentAt = 0;
  let received: Buffer = EMPTY;
  let timer: NodeJS.Timeout | undefined;
  let stream: MuxStream | undefined;
  let bytesOut = 0;
  let bytesIn = 0;
  const miss = () => {
    const isBusy = session.bytesOut - bytesOut > BUSY_BYTES && session.bytesIn > bytesIn;
    if (!isBusy) return session.destroy(ErrorCode.PEER_EOF, `no sign of life for ${tolerance} ms`);
    bytesIn = session.bytesIn;
    timer = setTimeout(miss, tolerance);
  };
  const beat = () => {
    if (session.isClosed) return;
    bytesIn = session.bytesIn;
    sent = randomBytes(BEAT_BYTES);
    sentAt = session.now();
    timer = setTimeout(miss, tolerance);
    if (stream) stream.write(sent);
    else stream = openTypedStream(session, StreamType.HEARTBEAT, sent, events);
  };
  const events = {
    ...noopStreamEvents,
    onData(chunk: Buffer) {
      stream?.consumed(chunk.length);
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      if (received.length < BEAT_BYTES) return;
      const isEcho = received.length === BEAT_BYTES && received.equals(sent);
      received = EMPTY;
      clearTimeout(timer);
      if (!isEcho) {
        session.close(ErrorCode.PROTOCOL, 'the heartbeat was not echoed unchanged');
        return;
      }
      const roundTrip = session.now() - sentAt;
      if (samples.push(roundTrip) > SAMPLES) samples.shift();
      session.windowBudget.roundTrip = Math.min(...samples);
      onBeat?.(roundTrip);
      bytesOut = session.bytesOut;
      timer = setTimeout(beat, interval);
    },
    onEnd: () => session.close(ErrorCode.PROTOCOL, 'the heartbeat stream was ended'),
    onReset: () => {
      clearTimeout(timer);
      session.close(ErrorCode.PROTOCOL, 'the heartbeat stream was reset');
    },
  };
  beat();
}

/**
 * Answers the heartbeats of the peer: it echoes all data, as fast as the peer reads it.
 * @param rest the data behind the stream's type.
 */
export function answerHeartbeat(stream: MuxStream, rest: Buffer): void {
  let unconsumed = 0;
  const echo = (chunk: Buffer) => {
    if (stream.write(chunk)) stream.consumed(chunk.length);
    else unconsumed += chunk.length;
  };
  const onDrain = () => {
    stream.consumed(unconsumed);
    unconsumed = 0;
  };
  stream.events = { ...noopStreamEvents, onData: echo, onDrain, onEnd: () => stream.end() };
  if (rest.length > 0) echo(rest);
}

const EMPTY = Buffer.alloc(0);

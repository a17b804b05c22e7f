// Signs of life: four bytes go round on a stream of their own. "Online" means that they came back.

import { randomBytes } from 'node:crypto';
import type { MuxSession } from '../mux/mux-session.ts';
import { type MuxStream, noopStreamEvents } from '../mux/mux-stream.ts';
import { ErrorCode } from '../mux/stream.ts';
import { openTypedStream, StreamType } from './typed-stream.ts';

const BEAT_BYTES = 4;
/** Who sends so much between two beats may have to wait for an answer behind it. */
const BUSY_BYTES = 64 * 1024;
/** The shortest of so many round trips counts: the others were held up by traffic. */
const SAMPLES = 6;

export interface HeartbeatOptions {
  /** Milliseconds between an answer and the next question. */
  interval: number;
  /** Milliseconds that an answer may take. */
  tolerance: number;
  /** Told each round trip, in milliseconds. */
  onBeat?(roundTrip: number): void;
}

/**
 * Asks the peer for signs of life for as long as the session lasts, at once and then at intervals, and ends the session
 * when one does not come in time: at the latest `interval + tolerance` after the last that came. Only where a question
 * may be held up by our own bytes, on a line that is slow, does it count as life that anything comes.
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
      const isRight = received.length === BEAT_BYTES && received.equals(sent);
      received = EMPTY;
      clearTimeout(timer);
      if (!isRight) {
        session.close(ErrorCode.PROTOCOL, 'a sign of life was not what was asked for');
        return;
      }
      const roundTrip = session.now() - sentAt;
      if (samples.push(roundTrip) > SAMPLES) samples.shift();
      session.windowBudget.roundTrip = Math.min(...samples);
      onBeat?.(roundTrip);
      bytesOut = session.bytesOut;
      timer = setTimeout(beat, interval);
    },
    onEnd: () => session.close(ErrorCode.PROTOCOL, 'the stream of heartbeats was ended'),
    onReset: () => {
      clearTimeout(timer);
      session.close(ErrorCode.PROTOCOL, 'the stream of heartbeats was reset');
    },
  };
  beat();
}

/** Answers the heartbeats of the peer: what comes goes back, as fast as the peer takes it. */
export function answerHeartbeat(stream: MuxStream, rest: Buffer): void {
  let held = 0;
  const echo = (chunk: Buffer) => {
    if (stream.write(chunk)) stream.consumed(chunk.length);
    else held += chunk.length;
  };
  const onDrain = () => {
    stream.consumed(held);
    held = 0;
  };
  stream.events = { ...noopStreamEvents, onData: echo, onDrain, onEnd: () => stream.end() };
  if (rest.length > 0) echo(rest);
}

const EMPTY = Buffer.alloc(0);

// Heartbeats: four bytes that the peer echoes on a stream of their own. A peer counts as online when it has echoed them, or has sent
// anything else, within the tolerance.

import { randomBytes } from 'node:crypto';
import type { MuxSession } from '../mux/mux-session.ts';
import { type MuxStream, noopStreamEvents } from '../mux/mux-stream.ts';
import { ErrorCode } from '../mux/stream.ts';
import { openTypedStream, StreamType } from './typed-stream.ts';

const BEAT_BYTES = 4;
/** The round trip is the shortest of so many samples: the others were delayed by traffic. */
const SAMPLES = 6;
/**
 * In so many steps a session waits for a sign of life. After its event loop was blocked, a process finds its timers due before it
 * has read what came meanwhile: each step counts at most for what it was to take, so that a blocked event loop is one step.
 */
const STEPS = 4;

/** The timing of heartbeats. */
export interface HeartbeatOptions {
  /** The time between a response and the next heartbeat; milliseconds. */
  interval: number;
  /** The time in which the response, or any other bytes, must arrive; milliseconds. */
  tolerance: number;
  /** Called with each measured round trip, in milliseconds. */
  onBeat?(roundTrip: number): void;
}

/**
 * Sends heartbeats for as long as the session is open, the first at once. It ends the session when nothing at all arrives for
 * `tolerance` while a response is due: at most `interval + tolerance` after the last one. On a slow line heartbeat or response may
 * be queued behind data for longer than that, so any received byte is a sign of life. A time in which the event loop was blocked
 * counts for a quarter of the tolerance at most.
 */
export function startHeartbeat(session: MuxSession, { interval, tolerance, onBeat }: HeartbeatOptions): void {
  const samples: number[] = [];
  let sent: Buffer = EMPTY;
  let sentAt = 0;
  let received: Buffer = EMPTY;
  let timer: NodeJS.Timeout | undefined;
  let stream: MuxStream | undefined;
  let lookedAt = 0;
  /** For how long nothing had arrived by then. */
  let silence = 0;
  const awaitLife = () => {
    const step = Math.min(Math.ceil(tolerance / STEPS), tolerance - silence);
    timer = setTimeout(() => {
      const now = session.now();
      const hasRead = session.lastReadAt > lookedAt;
      silence = (hasRead ? 0 : silence) + Math.min(now - (hasRead ? session.lastReadAt : lookedAt), step);
      if (silence >= tolerance) return session.destroy(ErrorCode.PEER_EOF, `no sign of life for ${tolerance} ms`);
      lookedAt = now;
      awaitLife();
    }, step);
  };
  const beat = () => {
    if (session.isClosed) return;
    sent = randomBytes(BEAT_BYTES);
    sentAt = lookedAt = session.now();
    silence = 0;
    awaitLife();
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

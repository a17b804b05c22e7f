// Heartbeats: four bytes that the peer echoes on a stream of their own. A peer counts as online when it has echoed them, or has sent
// anything else, within the tolerance.

import { randomBytes } from 'node:crypto';
import type { Probe } from '../mux/link-window.ts';
import type { MuxSession } from '../mux/mux-session.ts';
import { type MuxStream, noopStreamEvents } from '../mux/mux-stream.ts';
import { ErrorCode } from '../mux/stream.ts';
import { openTypedStream, StreamType } from './typed-stream.ts';

const BEAT_BYTES = 4;
/** The most heartbeats on their way that measure the link: more tell no more. */
const BEATS_MAX = 16;
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
  /** Called when a heartbeat came back that was sent because the interval was over, with its round trip in milliseconds. */
  onBeat?(roundTrip: number): void;
}

/** The heartbeats of a session. */
export interface Heartbeat {
  /**
   * Asks the peer for a sign of life now, whenever the next heartbeat is due. A blocked event loop counts as little as elsewhere.
   * @returns whether anything arrives within so many milliseconds.
   */
  isAnswered(ms: number): Promise<boolean>;
}

/** A heartbeat that has not come back yet. */
interface Beat {
  readonly bytes: Buffer;
  readonly probe: Probe;
  /** Whether it was sent because the interval was over, and not to measure the link. */
  readonly isRegular: boolean;
}

/**
 * Sends heartbeats for as long as the session is open, the first at once. It ends the session when nothing at all arrives for
 * `tolerance` while a response is due: at most `interval + tolerance` after the last one. On a slow line heartbeat or response may
 * be queued behind data for longer than that, so any received byte is a sign of life. A time in which the event loop was blocked
 * counts for a quarter of the tolerance at most.
 *
 * Further heartbeats go between the data of a transfer: they tell the session what has arrived, and how much may be in flight.
 */
export function startHeartbeat(session: MuxSession, { interval, tolerance, onBeat }: HeartbeatOptions): Heartbeat {
  /** In the order in which they were sent, which is that in which they come back. */
  const beats: Beat[] = [];
  let received: Buffer = EMPTY;
  /** Until the next heartbeat is due. */
  let pause: NodeJS.Timeout | undefined;
  /** Until the next look for a sign of life; undefined while no response is due. */
  let watch: NodeJS.Timeout | undefined;
  let stream: MuxStream | undefined;
  let lookedAt = 0;
  /** For how long nothing had arrived by then. */
  let silence = 0;
  /** Those who are told of the next response. */
  const asking = new Set<() => void>();
  const awaitLife = () => {
    const step = Math.min(Math.ceil(tolerance / STEPS), tolerance - silence);
    watch = setTimeout(() => {
      const now = session.now();
      const hasRead = session.lastReadAt > lookedAt;
      silence = (hasRead ? 0 : silence) + Math.min(now - (hasRead ? session.lastReadAt : lookedAt), step);
      if (silence >= tolerance) return session.destroy(ErrorCode.PEER_EOF, `no sign of life for ${tolerance} ms`);
      lookedAt = now;
      awaitLife();
    }, step);
  };
  const stopWatching = () => {
    clearTimeout(watch);
    watch = undefined;
  };
  const beat = (isRegular: boolean) => {
    if (session.isClosed || (!isRegular && beats.length >= BEATS_MAX)) return;
    const bytes = randomBytes(BEAT_BYTES);
    if (!watch) {
      lookedAt = session.now();
      silence = 0;
      awaitLife();
    }
    if (stream) stream.write(bytes);
    else stream = openTypedStream(session, StreamType.HEARTBEAT, bytes, events, true);
    beats.push({ bytes, probe: session.link.probe(session.position, session.now()), isRegular });
  };
  const confirm = ({ probe, isRegular }: Beat) => {
    if (beats.length === 0) stopWatching();
    const roundTrip = session.confirm(probe);
    for (const tell of asking) tell();
    if (!isRegular) return;
    onBeat?.(roundTrip);
    pause = setTimeout(beat, interval, true);
  };
  const events = {
    ...noopStreamEvents,
    onData(chunk: Buffer) {
      stream?.consumed(chunk.length);
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      for (; received.length >= BEAT_BYTES; received = received.subarray(BEAT_BYTES)) {
        const oldest = beats.shift();
        if (!oldest?.bytes.equals(received.subarray(0, BEAT_BYTES))) {
          stopWatching();
          session.close(ErrorCode.PROTOCOL, 'the heartbeat was not echoed unchanged');
          return;
        }
        confirm(oldest);
      }
    },
    onEnd: () => session.close(ErrorCode.PROTOCOL, 'the heartbeat stream was ended'),
    onReset: () => {
      clearTimeout(pause);
      stopWatching();
      session.close(ErrorCode.PROTOCOL, 'the heartbeat stream was reset');
    },
  };
  session.onProbeDue = () => beat(false);
  beat(true);
  return {
    isAnswered(ms) {
      const askedAt = session.now();
      if (beats.length === 0) beat(false);
      return new Promise((resolve) => {
        const settle = (isAlive: boolean) => {
          clearTimeout(look);
          asking.delete(answered);
          resolve(isAlive);
        };
        const answered = () => settle(true);
        asking.add(answered);
        const step = Math.ceil(ms / STEPS);
        let steps = 0;
        let look = setTimeout(function onStep() {
          if (session.lastReadAt > askedAt) settle(true);
          else if (session.isClosed || ++steps === STEPS) settle(false);
          else look = setTimeout(onStep, step);
        }, step);
      });
    },
  };
}

/**
 * Answers the heartbeats of the peer: it echoes all data, as fast as the peer reads it.
 * @param rest the data behind the stream's type.
 */
export function answerHeartbeat(stream: MuxStream, rest: Buffer): void {
  stream.isUrgent = true;
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

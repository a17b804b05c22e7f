// What an agent may do before it is admitted, and what that can cost: whoever connects may be anybody.

import { type MuxStream, noopStreamEvents } from '../../protocol/mux/mux-stream.ts';
import type { UnauthenticatedLimits } from '../../protocol/mux/peer-limits.ts';
import { AgentError } from '../control/agent-errors.ts';

/**
 * The bytes that an agent may send, and the streams that it may have open. SDKs begin with `Auth` and a heartbeat, and some send
 * binds beside them, which have to wait. Whoever exceeds either is cut off.
 */
export const UNAUTHENTICATED_LIMITS: UnauthenticatedLimits = { bytes: 32 * 1024, streams: 32 };
/**
 * How long an agent may take to authenticate, all of its attempts together; milliseconds. The time in which the gateway works on an
 * attempt does not count.
 */
const AUTH_TIMEOUT_MS = 10_000;

/** A call that waits, with its bytes as they came: parsed, they would take many times their memory. */
interface WaitingCall {
  readonly stream: MuxStream;
  readonly type: number;
  readonly chunks: Buffer[];
  hasEnded: boolean;
}

/**
 * A session before its admission: its deadline, and the calls that wait for it. They hold no more than the bytes and streams of
 * `UNAUTHENTICATED_LIMITS`, and nothing that outlives the connection.
 */
export class BeforeAdmission {
  readonly #onLate: () => void;
  readonly #waiting = new Set<WaitingCall>();
  #timer: NodeJS.Timeout | undefined;
  /** What is left of the agent's time, and since when it runs; milliseconds. */
  #left = AUTH_TIMEOUT_MS;
  #since = 0;

  /** Starts the deadline. @param onLate called once, when it is over. */
  constructor(onLate: () => void) {
    this.#onLate = onLate;
    this.resumeDeadline();
  }

  /** Stops the clock, while the gateway works on an attempt to authenticate. */
  pauseDeadline(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#since;
  }

  /** Lets the clock run again, after a refusal. */
  resumeDeadline(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#onLate, Math.max(0, this.#left));
  }

  /** Keeps a call until the admission. @param rest the bytes behind the stream's type. */
  hold(stream: MuxStream, type: number, rest: Buffer): void {
    const call: WaitingCall = { stream, type, chunks: [rest], hasEnded: false };
    this.#waiting.add(call);
    stream.events = {
      ...noopStreamEvents,
      onData: (chunk) => void call.chunks.push(chunk),
      onEnd: () => {
        call.hasEnded = true;
      },
      onReset: () => void this.#waiting.delete(call),
    };
  }

  /** Hands over the calls that wait, in their order, to `receive`, which sets the events of their streams. */
  release(receive: (stream: MuxStream, type: number, rest: Buffer) => void): void {
    for (const { stream, type, chunks, hasEnded } of this.#take()) {
      receive(stream, type, Buffer.concat(chunks));
      if (hasEnded && !stream.isClosed) stream.events.onEnd();
    }
  }

  /**
   * Refuses all calls that wait: for the reason why the agent is refused, unless that may pass.
   * @param reason the error of the authentication; undefined when there was none in time. @param errorPrefix of error codes.
   */
  refuse(reason: unknown, errorPrefix: string): void {
    const isFinal = reason instanceof AgentError && reason.retryAfter === undefined;
    const answer = (isFinal ? reason : new AgentError('sessionNotReady')).answer(errorPrefix);
    for (const { stream } of this.#take()) {
      stream.events = noopStreamEvents;
      stream.write(Buffer.from(JSON.stringify(answer)));
      stream.end();
    }
  }

  /** Stops the deadline for good. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #take(): WaitingCall[] {
    const calls = [...this.#waiting];
    this.#waiting.clear();
    return calls;
  }
}

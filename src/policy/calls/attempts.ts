// Repeats a request as long as the policy wants it.

import { setTimeout as sleep } from 'node:timers/promises';
import { OutboundFailed, type OutboundResponse } from '../../http/outbound.ts';

/** The most times that a request is repeated. */
export const RETRIES_MAX = 3;
/** The pause before the first repetition, which doubles each time; milliseconds. */
const PAUSE_MS = 100;

/** One attempt: a response or a failure. */
export interface Attempt {
  response: OutboundResponse | undefined;
  failure: OutboundFailed | undefined;
  /** How long it took, in milliseconds. */
  durationMs: number;
}

/** What an attempt is made with. */
export interface Attempting {
  send(): Promise<OutboundResponse>;
  /** @returns whether to try again. @param count how many attempts there were. */
  isRetried(last: Attempt, count: number): boolean;
  /** Ends the attempts: the time is over, or the visitor has gone. */
  signal: AbortSignal;
  /** A monotonic clock, in milliseconds. */
  now(): number;
}

/**
 * Makes the attempts.
 * @returns all of them, at least one. The last one has failed when the signal has come.
 */
export async function makeAttempts({ send, isRetried, signal, now }: Attempting): Promise<[Attempt, ...Attempt[]]> {
  const attempt = async (): Promise<Attempt> => {
    const start = now();
    const done = (outcome: Pick<Attempt, 'response'> & Partial<Attempt>): Attempt => ({
      failure: undefined,
      durationMs: Math.round(now() - start),
      ...outcome,
    });
    try {
      return done({ response: await send() });
    } catch (error) {
      if (error instanceof OutboundFailed) return done({ response: undefined, failure: error });
      if (!signal.aborted) throw error;
      return done({ response: undefined, failure: new OutboundFailed('it took too long', 'callTimedOut') });
    }
  };
  const attempts: [Attempt, ...Attempt[]] = [await attempt()];
  while (attempts.length <= RETRIES_MAX && !signal.aborted) {
    if (!isRetried(attempts.at(-1) as Attempt, attempts.length)) break;
    const pause = PAUSE_MS * 2 ** (attempts.length - 1);
    await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
    attempts.push(await attempt());
  }
  return attempts;
}

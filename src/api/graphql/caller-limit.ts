// How much of something a caller may have at once.

import { ApiError, type ErrorName } from '../errors/errors.ts';
import type { ApiExchange } from '../exchange.ts';

/** Counts by API key or browser session, and strangers by their address. */
export class CallerLimit {
  readonly #max: number;
  readonly #error: ErrorName;
  readonly #open = new Map<string, number>();

  /** @param error for one more than `max`. */
  constructor(max: number, error: ErrorName) {
    this.#max = max;
    this.#error = error;
  }

  /** Takes a place until the response is closed. @throws {ApiError} when the caller has as many as one may have. */
  takeUntilClosed({ log: { keyId, sessionId }, clientIp, response }: ApiExchange): void {
    if (response.destroyed) return; // Its client is gone already.
    const caller = keyId ?? sessionId ?? clientIp;
    const open = this.#open.get(caller) ?? 0;
    if (open >= this.#max) throw new ApiError(this.#error, { max: this.#max, seconds: 1 });
    this.#open.set(caller, open + 1);
    response.once('close', () => {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left > 0) this.#open.set(caller, left);
      else this.#open.delete(caller);
    });
  }
}

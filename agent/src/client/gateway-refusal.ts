// A refusal in the words of the gateway, and as an error of ours.

import type { GatewayError } from '../gateway-client.ts';

const CODE = /^ERR_[A-Z]+_\d+$/;
/** The gateway is itself in trouble, or the session is ending: that says nothing about what was asked. */
const TRANSIENT = ['ERR_GATEWAY_90080', 'ERR_GATEWAY_90364', 'ERR_GATEWAY_300'];
/** The address is being served already. */
const IN_USE = 'ERR_GATEWAY_334';

/** Seconds; a gateway that says more is not believed. */
const RETRY_AFTER_MAX = 300;

export class GatewayRefusal extends Error implements GatewayError {
  readonly code: string;
  /** When the gateway wants to be asked again, at the earliest; milliseconds, 0 where it did not say. */
  readonly retryAfter: number;

  constructor({ code, message }: GatewayError, retryAfter = 0) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether the same may well be accepted in a moment. */
  get isTransient(): boolean {
    return TRANSIENT.includes(this.code);
  }

  get isInUse(): boolean {
    return this.code === IN_USE;
  }
}

/** Reads an answer's error: a text of several lines, one of which may be the code. @param retryAfter of the answer, in seconds. */
export function parseRefusal({ error: text, retryAfter }: { error: string; retryAfter: number }): GatewayRefusal {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const code = lines.find((line) => CODE.test(line)) ?? '';
  const message = lines.filter((line) => line !== code).join(' ') || code;
  return new GatewayRefusal({ code, message }, Math.min(Math.max(retryAfter, 0), RETRY_AFTER_MAX) * 1000);
}

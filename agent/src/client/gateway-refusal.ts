// Refusals of the gateway, parsed from the error texts of its responses.

import type { GatewayError } from '../gateway-client.ts';

const CODE = /^ERR_[A-Z]+_\d+$/;
/** Codes of an internal failure of the gateway, or of a session that ends. They are no decision on the request. */
const TRANSIENT = ['ERR_GATEWAY_90080', 'ERR_GATEWAY_90364', 'ERR_GATEWAY_300'];
/** The codes of an authtoken that is none, or is not valid any more. */
const BAD_AUTHTOKEN = ['ERR_GATEWAY_105', 'ERR_GATEWAY_107'];
/** The code of an address that is already bound. */
const IN_USE = 'ERR_GATEWAY_334';

/** The upper limit of a retry delay that is accepted from the gateway; seconds. */
const RETRY_AFTER_MAX = 300;

/** A call that the gateway refused. */
export class GatewayRefusal extends Error implements GatewayError {
  readonly code: string;
  /** The least delay before a retry, in milliseconds; 0 when the gateway sent none. */
  readonly retryAfter: number;

  constructor({ code, message }: GatewayError, retryAfter = 0) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may be accepted soon. */
  get isTransient(): boolean {
    return TRANSIENT.includes(this.code);
  }

  /** Whether another authtoken is needed. */
  get isBadAuthtoken(): boolean {
    return BAD_AUTHTOKEN.includes(this.code);
  }

  /** Whether the requested address is already bound. */
  get isInUse(): boolean {
    return this.code === IN_USE;
  }
}

/**
 * Parses the error of a response: a text of several lines, one of which may be the code.
 * @param retryAfter the delay in the response, in seconds.
 */
export function parseRefusal({ error: text, retryAfter }: { error: string; retryAfter: number }): GatewayRefusal {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const code = lines.find((line) => CODE.test(line)) ?? '';
  const message = lines.filter((line) => line !== code).join(' ') || code;
  return new GatewayRefusal({ code, message }, Math.min(Math.max(retryAfter, 0), RETRY_AFTER_MAX) * 1000);
}

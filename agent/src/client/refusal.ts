// A refusal in the words of the gateway, and as an error of ours.

import type { GatewayError } from '../gateway-client.ts';

const CODE = /^ERR_[A-Z]+_\d+$/;
/** The gateway is itself in trouble, or the session is ending: that says nothing about what was asked. */
const PASSING = ['ERR_GATEWAY_90080', 'ERR_GATEWAY_300'];
/** The address is being served already. */
const IN_USE = 'ERR_GATEWAY_334';

export class Refusal extends Error implements GatewayError {
  readonly code: string;

  constructor({ code, message }: GatewayError) {
    super(message);
    this.code = code;
  }

  /** Whether the same may well be accepted in a moment. */
  get isPassing(): boolean {
    return PASSING.includes(this.code);
  }

  get isInUse(): boolean {
    return this.code === IN_USE;
  }
}

/** Reads the text of an answer's error: several lines, one of which may be the code. */
export function readRefusal(text: string): Refusal {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const code = lines.find((line) => CODE.test(line)) ?? '';
  return new Refusal({ code, message: lines.filter((line) => line !== code).join(' ') || code });
}

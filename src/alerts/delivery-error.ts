// Why a notification was not taken.

import { SinkError } from '../events/sinks/sink.ts';

export interface DeliveryFailure {
  /** `HTTP 503`, `ECONNREFUSED`, or the code of a mail server. */
  code: string;
  /** For people, on one line, without secrets and without addresses of the operator's network. */
  message: string;
}

/** Thrown by a channel; its texts may be shown to tenants. */
export class DeliveryError extends Error implements DeliveryFailure {
  readonly code: string;

  constructor({ code, message }: DeliveryFailure) {
    super(message);
    this.code = code;
  }
}

/** What may be said of anything that a channel throws. */
export function failureOf(error: unknown): DeliveryFailure {
  if (error instanceof DeliveryError || error instanceof SinkError) return { code: error.code, message: error.message };
  if ((error as Error | undefined)?.name === 'TimeoutError')
    return { code: 'ETIMEDOUT', message: 'there was no answer in time' };
  return { code: 'Error', message: 'it could not be sent; the log of the gateway has the reason' };
}

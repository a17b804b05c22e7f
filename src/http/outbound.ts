// Requests of policies to other servers, as the action `http-request` sends them.

import type { Duplex } from 'node:stream';
import type { HeaderList } from './header-list.ts';
import type { VisitorError } from './visitor-errors.ts';

/** One request: neither repeated nor redirected. */
export interface OutboundRequest {
  method: string;
  url: URL;
  /** Without those that frame the message, and without Host. */
  fields: readonly (readonly [name: string, value: string])[];
  /** Undefined when it has none. */
  body: Buffer | undefined;
}

/** The whole response. */
export interface OutboundResponse {
  status: number;
  fields: HeaderList;
  /** Without its content coding. */
  body: Buffer;
  /** The IP address of the server; '' when it is not known. */
  address: string;
}

/** There is no usable response. */
export class OutboundFailed extends Error {
  /** What a visitor is told who cannot be served without it. */
  readonly error: VisitorError;

  constructor(message: string, error: VisitorError = 'callFailed') {
    super(message);
    this.error = error;
  }
}

/**
 * Sends a request.
 * @param accountId whose limit of parallel requests counts.
 * @param signal cancels it.
 * @param connect makes the connection for it, to an internal endpoint; left out, it goes to a server on the network.
 * @throws {OutboundFailed} when there is no response, or it may not be asked for; the reason of the signal when that came first.
 */
export type SendOutbound = (
  accountId: string,
  request: OutboundRequest,
  signal: AbortSignal,
  connect?: () => Duplex,
) => Promise<OutboundResponse>;

/** Where nothing may be sent. */
export async function refuseOutbound(): Promise<never> {
  throw new OutboundFailed('nothing is sent from here');
}

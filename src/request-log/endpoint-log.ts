// The last requests of one endpoint: a queue with a bound.

import type { LoggedRequest } from '../edge/reports/logged-request.ts';

/** The most requests of one endpoint at one node, about. */
export const ENDPOINT_MAX = 5000;
/** Requests that are forgotten together: what is old is not looked at one by one, as that would cost each request its share. */
export const BLOCK_SIZE = 32;

interface Block {
  requests: LoggedRequest[];
  /** Their memory, about. */
  bytes: number;
}

export class EndpointLog {
  readonly accountId: string;
  readonly endpointId: string;
  /** The memory of its requests, about. */
  bytes = 0;
  #blocks: Block[] = [];
  /** The user agent of the newest request: most have the same, which is kept once. */
  #userAgent = '';

  constructor({ accountId, endpointId }: Pick<LoggedRequest, 'accountId' | 'endpointId'>) {
    this.accountId = accountId;
    this.endpointId = endpointId;
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  get isFull(): boolean {
    return this.#blocks.length > ENDPOINT_MAX / BLOCK_SIZE;
  }

  /** The newest of those that `shift` would forget. */
  get nextToGo(): LoggedRequest | undefined {
    return this.#blocks[0]?.requests.at(-1);
  }

  /** @returns the memory that it takes. */
  push(request: LoggedRequest): number {
    if (request.userAgent === this.#userAgent) request.userAgent = this.#userAgent;
    else this.#userAgent = request.userAgent;
    const { bytes } = request;
    const last = this.#blocks.at(-1);
    if (last && last.requests.length < BLOCK_SIZE) {
      last.requests.push(request);
      last.bytes += bytes;
    } else this.#blocks.push({ requests: [request], bytes });
    this.bytes += bytes;
    return bytes;
  }

  /** Forgets the oldest ones. @returns the memory that they took. */
  shift(): number {
    const bytes = this.#blocks.shift()?.bytes ?? 0;
    this.bytes -= bytes;
    return bytes;
  }

  /** Its requests, the newest first. */
  *newestFirst(): Generator<LoggedRequest> {
    for (let at = this.#blocks.length - 1; at >= 0; at--) {
      const { requests } = this.#blocks[at] as Block;
      for (let i = requests.length - 1; i >= 0; i--) yield requests[i] as LoggedRequest;
    }
  }

  /** Its requests, the oldest first. */
  *oldestFirst(): Generator<LoggedRequest> {
    for (const { requests } of this.#blocks) yield* requests;
  }
}

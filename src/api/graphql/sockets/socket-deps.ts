// What WebSockets need of the API.

import type { ApiExchange } from '../../exchange.ts';
import type { Admit } from '../../http/admission.ts';
import type { OperationDeps } from '../connection-operations.ts';

export interface SocketDeps extends OperationDeps {
  /** Says who asks: when a WebSocket begins, and before each operation. */
  admit: Admit;
  /** How long a client may take nothing of what it is sent; milliseconds. Left out: the usual. */
  writeStallMs: number | undefined;
}

/** Takes a request that may become a WebSocket, and what its client sent behind the head. */
export type OpenWebSocket = (exchange: ApiExchange, head: Buffer) => void;

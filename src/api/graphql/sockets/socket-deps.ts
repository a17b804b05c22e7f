// What WebSockets need of the API.

import type { ApiApp } from '../../context.ts';
import type { ApiExchange } from '../../exchange.ts';
import type { Admit } from '../../http/admission.ts';
import type { ApiRequestLogger } from '../../http/request-log.ts';
import type { GraphQLEngine } from '../engine.ts';

/** What WebSockets need of the API. */
export interface SocketDeps {
  app: ApiApp;
  engine: GraphQLEngine;
  /** Says who asks: when a WebSocket begins, and before each operation. */
  admit: Admit;
  /** Called for each operation when it is over. */
  logRequest: ApiRequestLogger;
  /** How long a client may take nothing of what it is sent; milliseconds. Left out: the usual. */
  writeStallMs: number | undefined;
}

/** Takes a request that may become a WebSocket, and what its client sent behind the head. */
export type OpenWebSocket = (exchange: ApiExchange, head: Buffer) => void;

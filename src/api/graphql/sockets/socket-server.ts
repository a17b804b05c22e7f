// Joins three things: WebSockets (ws), the protocol of GraphQL on them (graphql-ws), and what each caller may do here.

import type { IncomingMessage } from 'node:http';
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, parse } from 'graphql';
import { makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ApiExchange } from '../../exchange.ts';
import { WRITE_STALL_MS } from '../../http/connections.ts';
import { BODY_MAX_BYTES } from '../../http/request-body.ts';
import { SUBPROTOCOL } from '../../http/web-sockets.ts';
import { CallerLimit } from '../caller-limit.ts';
import { SourceFailed } from '../connection-operations.ts';
import { errorToJson } from '../plugins/errors.ts';
import { MessageSocket } from './message-socket.ts';
import { SocketCaller } from './socket-caller.ts';
import type { OpenWebSocket, SocketDeps } from './socket-deps.ts';

/** A dashboard has one in each of its tabs. */
const SOCKETS_MAX = 100;
/** How long a client may take to say who it is; milliseconds. */
const INIT_MS = 3000;
/** How long the other end may take to close what we close; milliseconds. */
const CLOSE_MS = 2000;
/** The longest silence on a connection; milliseconds. */
const PING_MS = 12_000;
/** The library wants a document to find out what to run; here it was found out before. */
const RUN_ALREADY = parse('{ __typename }');

/** @returns what makes a WebSocket of a request. */
export function createSocketServer(deps: SocketDeps): OpenWebSocket {
  const { app, writeStallMs = WRITE_STALL_MS } = deps;
  const limit = new CallerLimit(SOCKETS_MAX, 'tooManySockets');
  const webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false, // Lengths would tell of secrets, and each would keep its windows.
    maxPayload: BODY_MAX_BYTES,
    handleProtocols: () => SUBPROTOCOL,
    closeTimeout: CLOSE_MS,
  } as ConstructorParameters<typeof WebSocketServer>[0]);
  const protocol = makeServer<Record<string, unknown>, SocketCaller>({
    connectionInitWaitTimeout: INIT_MS,
    onConnect: ({ connectionParams = {}, extra }) => extra.begin(connectionParams),
    async onSubscribe({ extra }, _, payload) {
      const result = await extra.run(payload as unknown as Record<string, unknown>);
      return Array.isArray(result) ? result : ({ document: RUN_ALREADY, contextValue: result } as ExecutionArgs);
    },
    execute: ({ contextValue }) => contextValue as ExecutionResult,
    onNext: (_, __, ___, ____, { errors, ...rest }) => (errors ? { errors: errors.map(toJson), ...rest } : rest),
    onError: (_, __, ___, errors) => errors.flatMap(causesOf).map(toJson),
  });
  // In time before the listener cuts a connection that takes nothing.
  const pingMs = Math.min(PING_MS, writeStallMs / 3);

  return (exchange, head) => {
    const { request, response, operationId } = exchange;
    const { socket } = request;
    response.detachSocket(socket);
    response.statusCode = 101;
    const end = () => {
      response.destroy();
      response.emit('close');
    };
    if (socket.destroyed) return end();
    let isOpen = false;
    webSockets.once('headers', (headers) => headers.push(`Service-Operation-Id: ${operationId}`));
    webSockets.handleUpgrade(request as IncomingMessage, socket, head, (webSocket) => {
      isOpen = true;
      begin(exchange, webSocket, end);
    });
    if (!isOpen) socket.once('close', end);
  };

  /** @param end closes the response of its request. */
  function begin(exchange: ApiExchange, webSocket: WebSocket, end: () => void): void {
    const socket = new MessageSocket(webSocket, pingMs);
    const caller = new SocketCaller(exchange, socket, limit, deps);
    const closed = protocol.opened(socket, caller);
    socket.onClose((code, reason) => {
      exchange.log.close = { code, reason };
      caller.end();
      end();
      void closed(code, reason);
    });
    if (app.shutdownSignal.aborted) caller.closeForStop();
  }
}

const toJson = (error: GraphQLError) => errorToJson(error) as GraphQLError;

/** What the client sees of an error that the library made of what was thrown. */
function causesOf({ originalError }: GraphQLError, _: number, all: readonly GraphQLError[]): readonly GraphQLError[] {
  return originalError instanceof SourceFailed ? originalError.errors : all;
}

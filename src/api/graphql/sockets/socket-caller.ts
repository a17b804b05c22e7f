// Whoever is at the other end of a WebSocket: who that is, and what is run for them.

import type { ExecutionResult, GraphQLError } from 'graphql';
import type { ApiExchange } from '../../exchange.ts';
import { SOCKET_METHOD } from '../../http/admission.ts';
import { recordError } from '../../http/responses.ts';
import type { CallerLimit } from '../caller-limit.ts';
import { refusal } from '../connection-end.ts';
import { ConnectionOperations, type Results } from '../connection-operations.ts';
import type { MessageSocket } from './message-socket.ts';
import type { SocketDeps } from './socket-deps.ts';

/** Members of the payload of `connection_init` that stand for headers of the request. */
const HEADERS = ['authorization', 'gateway-dashboard'];

type Payload = Record<string, unknown>;

export class SocketCaller {
  readonly #exchange: ApiExchange;
  readonly #socket: MessageSocket;
  readonly #limit: CallerLimit;
  readonly #deps: SocketDeps;
  readonly #operations: ConnectionOperations;
  #request: ApiExchange['request'];

  /** @param exchange the request for the WebSocket; its response is closed when that ends. */
  constructor(exchange: ApiExchange, socket: MessageSocket, limit: CallerLimit, deps: SocketDeps) {
    this.#exchange = exchange;
    this.#request = exchange.request;
    this.#socket = socket;
    this.#limit = limit;
    this.#deps = deps;
    this.#operations = new ConnectionOperations(socket, deps);
  }

  /**
   * Finds out who it is, by what `connection_init` brings or else the request did.
   * @returns whether it may go on; otherwise the WebSocket is closed.
   */
  async begin(payload: Payload): Promise<boolean> {
    this.#request = requestWith(this.#exchange.request, payload);
    const exchange = { ...this.#exchange, request: this.#request };
    try {
      const context = await this.#deps.admit(exchange);
      this.#limit.takeUntilClosed(exchange);
      void this.#operations.watch(context);
      return this.#socket.isOpen;
    } catch (error) {
      recordError(exchange, error);
      const { code, reason } = refusal(error);
      this.#socket.close(code, reason);
      return false;
    }
  }

  /** Runs an operation, as `ConnectionOperations.run` does. */
  run(payload: Payload): Promise<ExecutionResult | Results | GraphQLError[]> {
    const exchange = { ...this.#exchange, request: this.#request };
    return this.#operations.run(exchange, this.#deps.admit, namedDocument(payload));
  }

  /** Ends everything: the connection is over. */
  end(): void {
    this.#operations.end();
  }

  /** Closes the WebSocket so that its client comes back, to another process. */
  closeForStop(): void {
    this.#operations.closeForStop();
  }
}

/** The request for the WebSocket with what `connection_init` says in place of headers, which pages cannot set. */
function requestWith(request: ApiExchange['request'], payload: Payload): ApiExchange['request'] {
  const headers = { ...request.headers };
  for (const [name, value] of Object.entries(payload))
    if (HEADERS.includes(name.toLowerCase()) && typeof value === 'string') headers[name.toLowerCase()] = value;
  return Object.create(request, { headers: { value: headers }, method: { value: SOCKET_METHOD } });
}

/** The protocol wants a `query` in every payload: where another member names the document, it is empty. */
function namedDocument({ query, ...others }: Payload): Payload {
  return query === '' ? others : { ...others, query };
}

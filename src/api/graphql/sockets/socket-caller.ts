// Whoever is at the other end of a WebSocket: who that is, and what is run for them. Each operation is admitted like a request by HTTP.

import { ServerResponse } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { newId } from '../../../store/ids.ts';
import { whileAllowed } from '../../collections/watching.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../errors/errors.ts';
import type { ApiExchange } from '../../exchange.ts';
import { SOCKET_METHOD } from '../../http/admission.ts';
import { recordError } from '../../http/responses.ts';
import type { CallerLimit } from '../caller-limit.ts';
import { type HttpExtension, maskError } from '../plugins/errors.ts';
import type { RequestContext } from '../request-context.ts';
import { readParams } from '../request-params.ts';
import { isOfRights, refusal, type SocketEnd, STOPPING } from './close-codes.ts';
import type { MessageSocket } from './message-socket.ts';
import type { SocketDeps } from './socket-deps.ts';

/** Operations that one WebSocket may have under way: subscriptions, of which a caller may have 100, and others. */
const OPERATIONS_MAX = 128;
/** Of them are worked on at once. */
const WORKING_MAX = 8;
/** Members of the payload of `connection_init` that stand for headers of the request. */
const HEADERS = ['authorization', 'gateway-dashboard'];

type Payload = Record<string, unknown>;
type Results = AsyncGenerator<ExecutionResult>;

/** Carries the errors that a client may see of a subscription whose source failed. */
export class SourceFailed extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The source of a subscription failed');
    this.errors = errors;
  }
}

/** One operation: what stands for its request and response, and when it began. */
interface Operation {
  exchange: ApiExchange;
  started: number;
  status: number;
}

export class SocketCaller {
  readonly #exchange: ApiExchange;
  readonly #socket: MessageSocket;
  readonly #limit: CallerLimit;
  readonly #deps: SocketDeps;
  readonly #operations = new Set<Operation>();
  #request: ApiExchange['request'];
  #working = 0;
  readonly #turns: (() => void)[] = [];

  /** @param exchange the request for the WebSocket; its response is closed when that ends. */
  constructor(exchange: ApiExchange, socket: MessageSocket, limit: CallerLimit, deps: SocketDeps) {
    this.#exchange = exchange;
    this.#request = exchange.request;
    this.#socket = socket;
    this.#limit = limit;
    this.#deps = deps;
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
      void this.#watch(context);
      return this.#socket.isOpen;
    } catch (error) {
      recordError(exchange, error);
      this.#close(refusal(error));
      return false;
    }
  }

  /**
   * Runs an operation.
   * @returns its result, its results one by one, or the errors for which it did not run.
   */
  async run(payload: Payload): Promise<ExecutionResult | Results | GraphQLError[]> {
    const operation = this.#begin();
    const { exchange } = operation;
    const context: RequestContext = { exchange, gateway: undefined, sent: undefined, hasAdapter: true };
    try {
      if (this.#operations.size > OPERATIONS_MAX)
        throw new ApiError('tooManyOperations', { max: OPERATIONS_MAX, seconds: 1 });
      const result = await this.#inTurn(async () => {
        await this.#socket.readable();
        context.gateway = await this.#deps.admit(exchange);
        return this.#deps.engine.run(readParams(namedDocument(payload)), context);
      });
      if (Symbol.asyncIterator in result) return this.#results(result, context, operation);
      const { data, errors } = result;
      operation.status = data === undefined ? statusOf(errors) : 200;
      this.#finish(operation);
      return errors && data === undefined ? [...errors] : result;
    } catch (error) {
      const masked = maskError(error as Error, exchange);
      operation.status = statusOf([masked]);
      this.#finish(operation);
      return [masked];
    }
  }

  /** Ends everything: the connection is over. */
  end(): void {
    for (const operation of [...this.#operations]) this.#finish(operation);
  }

  /** Closes the WebSocket so that its client comes back, to another process. */
  closeForStop(): void {
    this.#close(STOPPING);
  }

  #close({ code, reason }: SocketEnd): void {
    this.#socket.close(code, reason);
  }

  /** Closes the WebSocket when its caller loses its rights, gets others, or the gateway stops. */
  async #watch(context: Context): Promise<void> {
    try {
      for await (const _ of whileAllowed(context, untilAborted));
      if (context.app.shutdownSignal.aborted) this.closeForStop();
    } catch (error) {
      this.#close(refusal(error));
    }
  }

  #begin(): Operation {
    const exchange = {
      ...this.#exchange,
      request: this.#request,
      response: new ServerResponse(this.#request), // It is never written; who has to know that it is over listens to it.
      operationId: newId('op'),
      log: {},
    };
    const operation = { exchange, started: performance.now(), status: 200 };
    this.#operations.add(operation);
    return operation;
  }

  #finish(operation: Operation): void {
    if (!this.#operations.delete(operation)) return;
    const { exchange, started, status } = operation;
    exchange.response.destroy();
    exchange.response.emit('close');
    this.#deps.logRequest(exchange, performance.now() - started, status);
  }

  /** Works on a few operations at once: their answers are all in memory until they are sent. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working >= WORKING_MAX) await new Promise<void>((resolve) => this.#turns.push(resolve));
    else this.#working++;
    try {
      return await work();
    } finally {
      const next = this.#turns.shift();
      if (next) next();
      else this.#working--;
    }
  }

  /** The results of a subscription. When they end before their time, the WebSocket is closed: `complete` would keep the client away. */
  #results(source: AsyncIterable<ExecutionResult>, context: RequestContext, operation: Operation): Results {
    const results = source[Symbol.asyncIterator]();
    const over = { done: true, value: undefined } as const;
    const finish = async () => {
      this.#finish(operation); // First: a source that waits for something to happen ends by this alone.
      await results.return?.();
      return over;
    };
    return {
      next: async () => {
        const { value, done } = await results.next();
        const { interruption } = context;
        if (!done && interruption === undefined) return { done: false, value };
        if (interruption !== undefined) {
          operation.status = toStatus(interruption);
          if (isOfRights(interruption)) this.#close(refusal(interruption));
          else {
            this.#finish(operation);
            throw new SourceFailed(value?.errors ?? []);
          }
        } else if (this.#deps.app.shutdownSignal.aborted) this.closeForStop();
        this.#finish(operation);
        return over;
      },
      return: finish,
      throw: finish,
      [Symbol.asyncIterator]() {
        return this;
      },
      [Symbol.asyncDispose]: async () => void (await finish()),
    };
  }
}

async function* untilAborted(signal: AbortSignal): AsyncGenerator<never> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
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

function statusOf(errors: readonly GraphQLError[] | undefined): number {
  const [error] = errors ?? [];
  return (error?.extensions.http as HttpExtension | undefined)?.status ?? Number(error?.extensions.status ?? 400);
}

function toStatus(error: Error): number {
  return error instanceof ApiError ? error.status : 500;
}

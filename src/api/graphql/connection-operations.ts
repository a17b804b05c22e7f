// The operations of one connection that carries many at once: a WebSocket, or one stream of events for all. Each is admitted like a
// request by HTTP that it is alone in.

import { ServerResponse } from 'node:http';
import type { ExecutionResult, GraphQLError } from 'graphql';
import { newId } from '../../store/ids.ts';
import { whileAllowed } from '../collections/watching.ts';
import type { ApiApp, Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import type { ApiExchange } from '../exchange.ts';
import type { Admit } from '../http/admission.ts';
import type { ApiRequestLogger } from '../http/request-log.ts';
import { type ConnectionEnd, isOfRights, refusal, STOPPING } from './connection-end.ts';
import type { GraphQLEngine } from './engine.ts';
import { type HttpExtension, maskError } from './plugins/errors.ts';
import type { RequestContext } from './request-context.ts';
import { readParams } from './request-params.ts';

/** Operations that one connection may have under way: subscriptions, of which a caller may have 100, and others. */
const OPERATIONS_MAX = 128;
/** Of them are worked on at once. */
const WORKING_MAX = 8;

/** Results of a subscription, one by one. */
export type Results = AsyncGenerator<ExecutionResult>;

/** What results are sent by. */
export interface Carrier {
  readonly isOpen: boolean;
  /** Resolves when the client has read most of what it was sent, or is gone. */
  readable(): Promise<void>;
  /** Ends the connection before its operations are over. */
  close(code: number, reason: string): void;
}

/** What operations need of the API. */
export interface OperationDeps {
  app: ApiApp;
  engine: GraphQLEngine;
  /** Called for each operation when it is over. */
  logRequest: ApiRequestLogger;
}

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

export class ConnectionOperations {
  readonly #carrier: Carrier;
  readonly #deps: OperationDeps;
  readonly #operations = new Set<Operation>();
  #working = 0;
  readonly #turns: (() => void)[] = [];

  constructor(carrier: Carrier, deps: OperationDeps) {
    this.#carrier = carrier;
    this.#deps = deps;
  }

  /**
   * Runs an operation.
   * @param request what asks for it.
   * @param admit says who asks.
   * @returns its result, its results one by one, or the errors for which it did not run.
   */
  async run(
    request: ApiExchange,
    admit: Admit,
    payload: Record<string, unknown>,
  ): Promise<ExecutionResult | Results | GraphQLError[]> {
    const operation = this.#begin(request);
    const { exchange } = operation;
    const context: RequestContext = {
      exchange,
      gateway: undefined,
      sent: undefined,
      hasAdapter: true,
      isCarried: true,
    };
    try {
      if (this.#operations.size > OPERATIONS_MAX)
        throw new ApiError('tooManyOperations', { max: OPERATIONS_MAX, seconds: 1 });
      const result = await this.#inTurn(async () => {
        await this.#carrier.readable();
        if (!this.#carrier.isOpen) throw new ApiError('subscriptionOver'); // Nobody waits for it any more.
        context.gateway = await admit(exchange);
        return this.#deps.engine.run(readParams(payload), context);
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

  /** Closes the connection so that its client comes back, to another process. */
  closeForStop(): void {
    this.#close(STOPPING);
  }

  #close({ code, reason }: ConnectionEnd): void {
    this.#carrier.close(code, reason);
  }

  /** Closes the connection when its caller loses its rights, gets others, or the gateway stops. */
  async watch(context: Context): Promise<void> {
    try {
      for await (const _ of whileAllowed(context, untilAborted));
      if (context.app.shutdownSignal.aborted) this.closeForStop();
    } catch (error) {
      this.#close(refusal(error));
    }
  }

  #begin(request: ApiExchange): Operation {
    const exchange = {
      ...request,
      response: new ServerResponse(request.request), // It is never written; who has to know that it is over listens to it.
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

  /** The results of a subscription. When they end before their time, the connection is closed: `complete` would keep the client away. */
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

function statusOf(errors: readonly GraphQLError[] | undefined): number {
  const [error] = errors ?? [];
  return (error?.extensions.http as HttpExtension | undefined)?.status ?? Number(error?.extensions.status ?? 400);
}

function toStatus(error: Error): number {
  return error instanceof ApiError ? error.status : 500;
}

// GraphQL over server-sent events in the single-connection mode (graphql-sse): PUT reserves a stream and gives its token, GET opens it,
// POST sends operations whose results come by it, DELETE ends one of them. A stream is known to the process that gave its token alone.

import { randomBytes } from 'node:crypto';
import type { ExecutionResult } from 'graphql';
import type { Context } from '../../context.ts';
import { ApiError, NO_PROBLEMS } from '../../errors/errors.ts';
import type { ApiExchange } from '../../exchange.ts';
import type { Admit } from '../../http/admission.ts';
import { ConnectionOperations, type OperationDeps, type Results, SourceFailed } from '../connection-operations.ts';
import { errorToJson } from '../plugins/errors.ts';
import type { RequestParams } from '../request-context.ts';
import { EventChannel } from './event-channel.ts';

const TOKEN_HEADER = 'x-graphql-event-stream-token';
/** How long a reservation waits for its stream; milliseconds. */
const RESERVED_MS = 15_000;
/** Reservations and streams of one API key. */
const STREAMS_MAX = 20;
const OPERATION_ID_MAX = 64;
/** The method that the log has for an operation whose results come by a stream. */
const CARRIED_METHOD = 'EVENTSTREAM';

interface Reservation {
  caller: string;
  /** Ends it while it is not used. */
  timer: NodeJS.Timeout;
  stream?: OpenStream;
}

interface OpenStream {
  channel: EventChannel;
  operations: ConnectionOperations;
  /** By the ids that the client gave them; null while nobody knows yet what becomes of them. */
  running: Map<string, Results | null>;
}

/** What is shown of operations that did not run; undefined where the results come by the stream. */
export type Refused = Extract<ExecutionResult['errors'], object> | undefined;

/** Whether a request is one of this mode. */
export function isOfSingleConnection({ request }: ApiExchange): boolean {
  const { method } = request;
  return method === 'PUT' || method === 'DELETE' || tokenOf(request) !== undefined;
}

export class SingleConnections {
  readonly #deps: OperationDeps;
  readonly #admit: Admit;
  readonly #reservations = new Map<string, Reservation>();

  /** @param admit says who asks, for each request. */
  constructor(deps: OperationDeps, admit: Admit) {
    this.#deps = deps;
    this.#admit = admit;
  }

  /** Reserves a stream. @throws {ApiError} when nobody asks, or the caller has too many. */
  async reserve(exchange: ApiExchange): Promise<void> {
    const caller = await this.#callerOf(exchange);
    const own = [...this.#reservations.values()].filter((one) => one.caller === caller);
    if (own.length >= STREAMS_MAX) throw new ApiError('tooManyStreams', { max: STREAMS_MAX, seconds: 1 });
    const token = randomBytes(24).toString('base64url');
    const timer = setTimeout(() => this.#reservations.delete(token), RESERVED_MS).unref();
    this.#reservations.set(token, { caller, timer });
    exchange.body.send(exchange.response, 201, 'text/plain; charset=utf-8', token);
  }

  /** Opens the stream of a reservation. @throws {ApiError} when there is none, or it is open. */
  async open(exchange: ApiExchange): Promise<void> {
    const { response } = exchange;
    const { caller, context } = await this.#admitted(exchange);
    const { token, reservation } = this.#reservationOf(exchange, caller);
    if (reservation.stream) throw new ApiError('streamTaken');
    clearTimeout(reservation.timer);
    exchange.log.operation = 'stream of many operations';
    const channel = new EventChannel(response);
    const operations = new ConnectionOperations(channel, this.#deps);
    reservation.stream = { channel, operations, running: new Map() };
    response.once('close', () => {
      this.#reservations.delete(token);
      operations.end();
    });
    void operations.watch(context);
  }

  /**
   * Runs an operation, whose results come by the stream.
   * @returns the errors for which it did not run.
   * @throws {ApiError} when there is no such stream, or the operation has no id of its own there.
   */
  async run(exchange: ApiExchange, params: RequestParams): Promise<Refused> {
    const { stream, caller } = this.#reservations.get(tokenOf(exchange.request) ?? '') ?? {};
    if (!stream) throw new ApiError('noSuchStream');
    const { channel, operations, running } = stream;
    const id = operationIdOf(params);
    if (running.has(id)) throw new ApiError('operationIdTaken');
    running.set(id, null);
    const request = Object.create(exchange.request, { method: { value: CARRIED_METHOD } });
    let refusal: unknown;
    const admit: Admit = async (operation) => {
      try {
        const context = await this.#admit(operation);
        if (callerIdOf(context) !== caller) throw new ApiError('noSuchStream');
        return context;
      } catch (error) {
        refusal = error;
        throw error;
      } finally {
        exchange.response.setHeaders(new Map(Object.entries(operation.response.getHeaders()) as [string, string][]));
        Object.assign(exchange.log, operation.log);
      }
    };
    const result = await operations.run({ ...exchange, request }, admit, params as Record<string, unknown>);
    if (Array.isArray(result)) {
      running.delete(id);
      if (refusal !== undefined) throw refusal; // Of the request, whose status it is.
      return result;
    }
    const isOver = !running.has(id); // It was ended meanwhile.
    if (!(Symbol.asyncIterator in result)) this.#finish(stream, id, result);
    else if (isOver || !channel.isOpen) void result.return(undefined);
    else {
      running.set(id, result);
      void this.#pass(stream, id, result);
    }
    return undefined;
  }

  /** Ends an operation, if it is under way. @throws {ApiError} when there is no such stream. */
  async end(exchange: ApiExchange): Promise<void> {
    const caller = await this.#callerOf(exchange);
    const { stream } = this.#reservationOf(exchange, caller).reservation;
    const id = parameterOf(exchange.request, 'operationId') ?? '';
    const results = stream?.running.get(id);
    stream?.running.delete(id);
    void results?.return(undefined);
    exchange.body.send(exchange.response, 200, 'text/plain; charset=utf-8', '');
  }

  async #pass(stream: OpenStream, id: string, results: Results): Promise<void> {
    const { channel, running } = stream;
    try {
      for await (const result of results) {
        if (!running.has(id)) return;
        channel.send('next', { id, payload: toJson(result) });
        await channel.readable();
      }
      // Nothing is complete of what ends because the stream does.
      if (running.has(id)) this.#finish(stream, id);
    } catch (error) {
      const errors = error instanceof SourceFailed ? error.errors : [];
      this.#finish(stream, id, { errors });
    }
  }

  #finish({ channel, running }: OpenStream, id: string, last?: ExecutionResult): void {
    running.delete(id);
    if (last) channel.send('next', { id, payload: toJson(last) });
    channel.send('complete', { id });
  }

  async #admitted(exchange: ApiExchange) {
    const context = await this.#admit(exchange);
    return { context, caller: callerIdOf(context) };
  }

  async #callerOf(exchange: ApiExchange): Promise<string> {
    return (await this.#admitted(exchange)).caller;
  }

  #reservationOf({ request }: ApiExchange, caller: string): { token: string; reservation: Reservation } {
    const token = tokenOf(request) ?? '';
    const reservation = this.#reservations.get(token);
    if (reservation?.caller !== caller) throw new ApiError('noSuchStream');
    return { token, reservation };
  }
}

/** @throws {ApiError} for strangers. */
function callerIdOf({ caller: { keyId, sessionId, ownerId } }: Context): string {
  return keyId ?? sessionId ?? ownerId;
}

function tokenOf(request: ApiExchange['request']): string | undefined {
  const { [TOKEN_HEADER]: sent } = request.headers;
  return sent === undefined ? parameterOf(request, 'token') : String(sent);
}

function parameterOf({ url = '' }: ApiExchange['request'], name: string): string | undefined {
  const query = url.split('?', 2)[1];
  return query === undefined ? undefined : (new URLSearchParams(query).get(name) ?? undefined);
}

function operationIdOf({ extensions }: RequestParams): string {
  const { operationId } = (extensions ?? {}) as { operationId?: unknown };
  if (typeof operationId === 'string' && operationId.length > 0 && operationId.length <= OPERATION_ID_MAX)
    return operationId;
  const reason = `it must be a text of at most ${OPERATION_ID_MAX} characters that no other operation of the stream has`;
  throw new ApiError('wrongValue', { member: 'extensions.operationId', reason }, NO_PROBLEMS);
}

function toJson({ errors, ...rest }: ExecutionResult): object {
  return errors ? { errors: errors.map(errorToJson), ...rest } : rest;
}

// Masks errors: a client learns what was thrown on purpose, and of everything else only that it happened.

import { type ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ApiError, type ErrorName, type ErrorParameters, NO_PROBLEMS } from '../../errors/errors.ts';
import { shownProblems } from '../../errors/problem-codes.ts';
import type { ApiExchange } from '../../exchange.ts';
import { recordError } from '../../http/responses.ts';
import type { RequestContext } from '../request-context.ts';

/** Where the status of a response comes from. `spec` leaves 200 to the older media type. */
export interface HttpExtension {
  status: number;
  spec?: boolean;
}

/** An error of a request in which no operation can be found: its status is that of the response, in any media type. */
export function requestError(name: ErrorName, parameters: ErrorParameters = {}): ApiError {
  const error = new ApiError(name, parameters, NO_PROBLEMS);
  return Object.assign(error, { extensions: { ...error.extensions, http: { status: error.status } } });
}

/** Masks the errors of results and of streams, and those that arise before there is an operation. */
export function useErrorMasking(): Plugin<RequestContext, RequestContext> {
  return {
    onExecutionResult({ context, result, setResult }) {
      if (!result || Symbol.asyncIterator in result || !result.errors) return;
      setResult(masked(result, context.exchange));
    },
    onSubscribe: () => ({
      onSubscribeResult({ args, result, setResult }) {
        if (Symbol.asyncIterator in result) setResult(eachMasked(result, args.contextValue));
      },
    }),
    onResultProcess({ result, setResult, serverContext: { exchange } }) {
      if (Array.isArray(result) || Symbol.asyncIterator in result || !result.errors) return;
      const isMasked = ({ extensions }: GraphQLError) => extensions.operationId !== undefined;
      if (!result.errors.every(isMasked)) setResult(masked(result, exchange));
    },
  };
}

/** What a client sees of an error. What is wrong with the operation has a status; what a field throws, with a path, has none. */
export function maskError(error: Error & Partial<GraphQLError>, exchange: ApiExchange): GraphQLError {
  const known = recordError(exchange, error);
  const { nodes, source, positions, path } = error;
  const { status } = known;
  const http: HttpExtension | undefined = path ? undefined : { status, spec: status === 400 };
  return new GraphQLError(
    known.textFor((member) => member),
    {
      ...{ nodes, source, positions, path },
      extensions: {
        ...known.extensions,
        ...shownProblems(known),
        operationId: exchange.operationId,
        http: error.extensions?.http ?? http,
      },
    },
  );
}

/** An error without what only Yoga's adapter has to know. */
export function errorToJson(error: GraphQLError): object {
  const { extensions: { http: _, ...extensions } = {}, ...shown } = error.toJSON();
  return { ...shown, extensions };
}

function masked(result: ExecutionResult, exchange: ApiExchange): ExecutionResult {
  return { ...result, errors: result.errors?.map((error) => maskError(error, exchange)) };
}

async function* eachMasked(
  results: AsyncIterable<ExecutionResult>,
  context: RequestContext,
): AsyncGenerator<ExecutionResult> {
  const { exchange } = context;
  try {
    for await (const result of results) yield result.errors ? masked(result, exchange) : result;
  } catch (error) {
    // The source of events failed, or says why it ends: nothing comes after that.
    context.interruption = error as Error;
    yield masked({ errors: [error as GraphQLError] }, exchange);
  }
}

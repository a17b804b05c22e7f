// The one GraphQL engine. Whatever is done to a request between its parameters and its result is a plugin of Yoga.

import type { DocumentNode, ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { ApiError } from '../errors/errors.ts';
import { type DocumentOwner, Documents } from './documents.ts';
import { graphqlInput } from './input.ts';
import { useCost } from './plugins/cost.ts';
import { requestError, useErrorMasking } from './plugins/errors.ts';
import { useEventStreams } from './plugins/event-stream.ts';
import { type PersistedDocuments, usePersistedDocuments } from './plugins/persisted-documents.ts';
import { useSubscriptions } from './plugins/subscriptions.ts';
import type { RequestContext, RequestParams } from './request-context.ts';
import { runOperation } from './run-operation.ts';

export interface GraphQLEngine {
  /**
   * Runs an operation through all plugins.
   * @returns its result; those of a subscription one by one, where the context says that they can be framed.
   * @throws when the request is none that an operation can be found for.
   */
  run(params: RequestParams, context: RequestContext): Promise<ExecutionResult | AsyncIterable<ExecutionResult>>;
  /** Lets Yoga's adapter do the same and write the response: for GET, and for streams of events. */
  serve(context: RequestContext): Promise<void>;
}

/** @param persisted documents that a request may name in place of sending one. */
export function createEngine(schema: GraphQLSchema, persisted: PersistedDocuments): GraphQLEngine {
  const documents = new Documents(schema);
  const yoga = createYoga<RequestContext, RequestContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    batching: false,
    multipart: false,
    maxRequestBodySize: false, // The handler has read the body, up to its own limit.
    cors: false,
    logging: false,
    graphiql: false, // It is served before anything gets here.
    parserAndValidationCache: false, // Documents are kept for each account in a share of its own.
    maskedErrors: false, // Ours knows the operation id, and logs with the request's line.
    plugins: [
      useSentParams(),
      usePersistedDocuments(persisted),
      useDocuments(documents),
      useExecution(documents),
      useSubscriptions(),
      useEventStreams(),
      useErrorMasking(),
      useCost(),
    ],
  });
  const { getResultForParams } = yoga; // Taken once: each access goes through a proxy.
  return {
    async run(params, context) {
      // Plugins may ask for the request in WHATWG's form, which costs as much as all the rest. None of those here does.
      const request = undefined as unknown as Request;
      return (await getResultForParams({ params, request }, context)) as
        | ExecutionResult
        | AsyncIterable<ExecutionResult>;
    },
    async serve(context) {
      const { request, response } = context.exchange;
      await yoga.handle(request, response, context);
    },
  };
}

/** Gives Yoga's adapter the parameters of a POST, which were read before. */
function useSentParams(): Plugin<RequestContext, RequestContext> {
  return {
    onRequestParse({ serverContext: { sent }, setRequestParser }) {
      if (sent) setRequestParser(() => sent);
    },
  };
}

/** Parses and validates, within the limits on documents. What was read once is kept. */
function useDocuments(documents: Documents): Plugin<RequestContext> {
  const parse = (source: string, context: RequestContext): DocumentNode => {
    const read = documents.read(source, ownerOf(context));
    context.read = read;
    const document = 'valid' in read ? read.valid.document : read.document;
    if (!document) throw 'errors' in read ? read.errors[0] : new ApiError('internal');
    return document;
  };
  return {
    onParse: ({ context, setParseFn }) => setParseFn((source: string) => parse(source, context)),
    onValidate({ context: { read }, setResult }) {
      setResult(read && 'errors' in read ? [...read.errors] : []);
    },
  };
}

function ownerOf({ gateway, isPersisted }: RequestContext): DocumentOwner {
  if (isPersisted) return 'gateway';
  const caller = gateway?.authenticatedCaller;
  return caller ? { accountId: caller.accountId } : 'stranger';
}

/** Runs queries and mutations. */
function useExecution(documents: Documents): Plugin<RequestContext> {
  async function execute({ contextValue, operationName, variableValues }: ExecutionArgs): Promise<ExecutionResult> {
    const context = contextValue as RequestContext;
    const { gateway, read, exchange } = context;
    try {
      if (read && 'introspection' in read) return read.introspection.result;
      if (!read || !('valid' in read) || !gateway) throw new ApiError('internal');
      const operation = documents.operation(read.valid, operationName ?? null);
      if (!operation)
        throw requestError('badDocument', { reason: 'Say with operationName which of its operations to run' });
      context.operation = operation;
      exchange.log.operation = operation.definition.name?.value ?? operation.definition.operation;
      return await runOperation(operation, variableValues ?? {}, gateway, graphqlInput);
    } catch (error) {
      return { errors: [error as ApiError] };
    }
  }
  return { onExecute: ({ setExecuteFn }) => setExecuteFn(execute) };
}

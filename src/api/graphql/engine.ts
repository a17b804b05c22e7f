// The one GraphQL engine. Whatever is done to a request between its parameters and its result is a plugin of Yoga.

import type { ExecutionResult, GraphQLSchema } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { Documents } from './documents.ts';
import { useDocuments } from './plugins/documents.ts';
import { useErrorMasking } from './plugins/errors.ts';
import { useExecution } from './plugins/execution.ts';
import { type PersistedDocuments, usePersistedDocuments } from './plugins/persisted-documents.ts';
import { useSubscriptions } from './plugins/subscriptions.ts';
import type { RequestContext, RequestParams } from './request-context.ts';

export interface GraphQLEngine {
  /** Runs an operation through all plugins. @throws when the request is none that an operation can be found for. */
  run(params: RequestParams, context: RequestContext): Promise<ExecutionResult>;
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
      useErrorMasking(),
    ],
  });
  const { getResultForParams } = yoga; // Taken once: each access goes through a proxy.
  return {
    async run(params, context) {
      // Plugins may ask for the request in WHATWG's form, which costs as much as all the rest. None of those here does.
      const request = undefined as unknown as Request;
      return (await getResultForParams({ params, request }, context)) as ExecutionResult;
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

// Yoga, for all that the short path does not do: GET, server-sent events. Its checks are the short path's.

import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema, subscribe } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { Exchange } from '../exchange.ts';
import { type Documents, ownerOf, type Read } from './documents.ts';
import { errorsForYoga } from './errors.ts';
import { graphqlDoor } from './input.ts';
import { runOperation } from './run-operation.ts';
import { SubscriptionLimit } from './subscription-limit.ts';

interface YogaContext {
  gateway: Context;
}

/** `gateway` is left out where nobody sends a document. */
type ServerContext = { exchange: Exchange; gateway: Context | undefined };

export function makeYoga(schema: GraphQLSchema, documents: Documents) {
  const open = new SubscriptionLimit();
  const reads = new WeakMap<DocumentNode, Read>();
  const parseDocument = (source: string, { exchange, gateway }: ServerContext): DocumentNode => {
    const read = documents.read(source, gateway ? ownerOf(gateway, exchange) : 'stranger');
    const document = 'known' in read ? read.known.document : read.document;
    if (!document) throw 'errors' in read ? read.errors[0] : new ApiError('internal');
    reads.set(document, read);
    return document;
  };
  const errorsIn = (document: DocumentNode): GraphQLError[] => {
    const read = reads.get(document);
    return read && 'errors' in read ? [...read.errors] : [];
  };
  const sameChecks: Plugin<YogaContext & ServerContext, ServerContext> = {
    onParse: ({ context, setParseFn }) => setParseFn((source: string) => parseDocument(source, context)),
    onValidate: ({ setValidationFn }) => setValidationFn((_schema, document) => errorsIn(document)),
    onExecute: ({ args, setExecuteFn }) =>
      setExecuteFn(async () => {
        const { gateway } = args.contextValue;
        const read = reads.get(args.document);
        if (read && 'introspection' in read) return read.introspection.result;
        if (!read || !('known' in read)) throw new ApiError('internal');
        const operation = documents.operation(read.known, args.operationName ?? null);
        return runOperation(operation, args.variableValues ?? {}, gateway, graphqlDoor).catch((error) => ({
          errors: [error],
        }));
      }),
    onSubscribe: ({ args, setSubscribeFn }) =>
      setSubscribeFn(async () => {
        const { gateway, exchange } = args.contextValue;
        const { keyId, sessionId } = exchange.log;
        let release: () => void;
        try {
          release = open.take(keyId ?? sessionId ?? exchange.clientIp);
        } catch (error) {
          return { errors: [error as GraphQLError] };
        }
        exchange.response.once('close', release);
        const results = await subscribe({ ...args, contextValue: gateway });
        return Symbol.asyncIterator in results ? eachFormatted(results, exchange) : results;
      }),
    onResultProcess: ({ result, setResult, serverContext }) => {
      if (Array.isArray(result) || !('errors' in result) || !result.errors) return;
      const { errors, ...rest } = result;
      setResult({ errors: errorsForYoga(errors, serverContext.exchange), ...rest });
    },
  };
  return createYoga<ServerContext, YogaContext>({
    schema,
    graphqlEndpoint: '/graphql',
    landingPage: false,
    batching: false,
    multipart: false,
    cors: false,
    logging: false,
    graphiql: false, // It is served before anything gets here.
    // What is read is kept elsewhere, for each account in a share of its own.
    parserAndValidationCache: false,
    maskedErrors: false, // `format` does it, and knows the operation id.
    plugins: [sameChecks],
  });
}

async function* eachFormatted(
  results: AsyncIterable<ExecutionResult>,
  exchange: Exchange,
): AsyncGenerator<ExecutionResult> {
  try {
    for await (const result of results)
      yield result.errors ? { ...result, errors: errorsForYoga(result.errors, exchange) } : result;
  } catch (error) {
    // The source of events failed, or says why it ends: that is the last that is told.
    const shown = error instanceof GraphQLError ? error : new GraphQLError('', { originalError: error as Error });
    yield { errors: errorsForYoga([shown], exchange) };
  }
}

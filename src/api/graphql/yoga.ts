// Yoga, for all that the short path does not do: GET, server-sent events. Its checks are the short path's.

import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema, subscribe } from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { ApiExchange } from '../exchange.ts';
import { type Documents, ownerOf, type Read } from './documents.ts';
import { errorsForYoga } from './errors.ts';
import { graphqlInput } from './input.ts';
import { runOperation } from './run-operation.ts';

/** A dashboard has a few in each of its tabs; a program has one or two. */
const SUBSCRIPTIONS_MAX = 100;

interface YogaContext {
  gateway: Context;
}

/** `gateway` is left out where nobody sends a document. */
type ServerContext = { exchange: ApiExchange; gateway: Context | undefined };

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
        return runOperation(operation, args.variableValues ?? {}, gateway, graphqlInput).catch((error) => ({
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
  exchange: ApiExchange,
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

/** Counts by key, browser session or address. */
class SubscriptionLimit {
  readonly #open = new Map<string, number>();

  /** @returns what gives the place back, once. @throws {ApiError} when the caller has as many as one may have. */
  take(caller: string): () => void {
    const open = this.#open.get(caller) ?? 0;
    if (open >= SUBSCRIPTIONS_MAX) throw new ApiError('tooManySubscriptions', { max: SUBSCRIPTIONS_MAX, seconds: 1 });
    this.#open.set(caller, open + 1);
    return () => {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left > 0) this.#open.set(caller, left);
      else this.#open.delete(caller);
    };
  }
}

// Yoga, for all that the short path does not do: GraphiQL, GET, server-sent events. Its checks are the short path's.

import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  subscribe,
} from 'graphql';
import { createYoga, type Plugin } from 'graphql-yoga';
import { graphqlDoor } from './coerce.ts';
import type { Context } from './context.ts';
import { parseDocument, prepareOperation, validateDocument } from './documents.ts';
import { ApiError } from './errors.ts';
import { errorsForYoga } from './graphql-errors.ts';
import type { Exchange } from './http.ts';
import { checkDocument } from './persisted.ts';
import type { Admit } from './rest.ts';
import { runOperation } from './run.ts';

/** What GraphiQL shows first. */
const WELCOME = `# The management API of your tunnel gateway. Put an API key into "Headers" below,
# press Ctrl-Enter to run, Ctrl-Space to see what there is; the book on the left explains everything.

{
  credentials(first: 10) {
    nodes {
      id
      description
      acl
      owner {
        __typename
        active
      }
    }
    totalCount
  }
}
`;

interface YogaContext {
  gateway: Context;
}

type ServerContext = { exchange: Exchange };

export function makeYoga(schema: GraphQLSchema, admit: Admit) {
  const sameChecks: Plugin<YogaContext & ServerContext, ServerContext> = {
    onParse: ({ setParseFn }) => setParseFn((source: string) => parseDocument(source)),
    onValidate: ({ setValidationFn }) =>
      setValidationFn((validated, document) => validateDocument(validated, document) as GraphQLError[]),
    onExecute: ({ args, setExecuteFn }) =>
      setExecuteFn(async () => {
        const { gateway } = args.contextValue;
        const document: DocumentNode = args.document;
        const definition = getOperationAST(document, args.operationName);
        if (!definition) throw new ApiError('badDocument', { reason: 'say with operationName which operation to run' });
        const operation = prepareOperation(schema, document, definition);
        return runOperation(operation, args.variableValues ?? {}, gateway, graphqlDoor).catch((error) => ({
          errors: [error],
        }));
      }),
    onSubscribe: ({ args, setSubscribeFn }) =>
      setSubscribeFn(async () => {
        const { gateway, exchange } = args.contextValue;
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
    graphiql: {
      title: 'Tunnel Gateway',
      headers: JSON.stringify({ Authorization: 'Bearer <API key>' }),
      subscriptionsProtocol: 'SSE',
      defaultQuery: WELCOME,
    },
    // The page is 9 MB of text: it is loaded when somebody first opens it.
    renderGraphiQL: async (options) => (await import('@graphql-yoga/render-graphiql')).renderGraphiQL(options),
    context: async ({ exchange }) => {
      const gateway = await admit(exchange);
      checkDocument(gateway, exchange);
      return { gateway } as YogaContext & ServerContext;
    },
    maskedErrors: false, // `format` does it, and knows the operation id.
    plugins: [sameChecks],
  });
}

async function* eachFormatted(
  results: AsyncIterable<ExecutionResult>,
  exchange: Exchange,
): AsyncGenerator<ExecutionResult> {
  for await (const result of results)
    yield result.errors ? { ...result, errors: errorsForYoga(result.errors, exchange) } : result;
}

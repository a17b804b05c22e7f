import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { ApiExchange } from '../exchange.ts';
import { recordError } from '../http/responses.ts';

/** What an error looks like to a GraphQL client. */
export function formatError(error: GraphQLError | Error, exchange: ApiExchange): GraphQLFormattedError {
  const known = recordError(exchange, error);
  const { locations, path } = error as GraphQLError;
  return {
    message: known.textFor((member) => member),
    ...(locations ? { locations } : {}),
    ...(path ? { path } : {}),
    extensions: { ...known.extensions, operationId: exchange.operationId },
  };
}

/** For Yoga, which takes the status and headers of an answer from `extensions.http` of its errors. */
export function errorsForYoga(errors: readonly GraphQLError[], exchange: ApiExchange): GraphQLError[] {
  return errors.map((error) => {
    const { message, extensions } = formatError(error, exchange);
    const status = Number(extensions?.status);
    // What is wrong with the request itself has a status; `spec` leaves 200 to the older media type.
    const http = error.extensions.http ?? (error.path ? undefined : { status, spec: status === 400 });
    const { nodes, source, positions, path } = error;
    return new GraphQLError(message, { nodes, source, positions, path, extensions: { ...extensions, http } });
  });
}

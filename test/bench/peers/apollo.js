// Apollo Server 5 + Prisma, on its own standalone server, which is quicker than its Express integration.

import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { GraphQLError } from 'graphql';
import { callerOf, logRequest, ready } from './common.js';
import { resolvers, typeDefs } from './graphql.js';

const server = new ApolloServer({
  typeDefs,
  resolvers: /** @type {any} */ (resolvers),
  plugins: [
    {
      requestDidStart: async ({ contextValue, request: { http } }) => {
        const started = performance.now();
        return {
          willSendResponse: async ({ response }) => {
            const { caller } = /** @type {any} */ (contextValue);
            logRequest({ method: http?.method, url: '/graphql' }, response.http.status ?? 200, started, caller);
          },
        };
      },
    },
  ],
});
const { url } = await startStandaloneServer(server, {
  listen: { port: 0, host: '127.0.0.1' },
  context: async ({ req: { headers } }) => {
    const caller = await callerOf(headers.authorization);
    if (!caller)
      throw new GraphQLError('unknown API key', { extensions: { code: 'UNAUTHENTICATED', http: { status: 401 } } });
    return { caller, base: `http://${headers.host}` };
  },
});
ready(Number(new URL(url).port));

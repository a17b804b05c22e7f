// Mercurius with graphql-jit + Prisma, on Fastify.

import fastify from 'fastify';
import mercurius from 'mercurius';
import { callerOf, logRequest, ready } from './common.js';
import { resolvers, typeDefs } from './graphql.js';

const app = fastify();
app.decorateRequest('caller', undefined);
app.decorateRequest('started', 0);
app.addHook('onRequest', async (/** @type {any} */ request, reply) => {
  request.started = performance.now();
  request.caller = await callerOf(request.headers.authorization);
  if (!request.caller) return reply.code(401).send({ errors: [{ message: 'unknown API key' }] });
});
app.addHook('onResponse', async (/** @type {any} */ request, reply) => {
  logRequest(request.raw, reply.statusCode, request.started, request.caller);
});
app.register(/** @type {any} */ (mercurius), {
  schema: typeDefs,
  resolvers: { ...resolvers, Owner: { resolveType: resolvers.Owner.__resolveType } },
  jit: 1,
  context: (/** @type {any} */ request) => ({ caller: request.caller, base: `http://${request.headers.host}` }),
});

await app.listen({ port: 0, host: '127.0.0.1' });
ready(/** @type {any} */ (app.server.address()).port);

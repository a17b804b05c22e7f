// Fastify + pg, with response schemas, which is where Fastify gains.

import fastify from 'fastify';
import { callerOf, logRequest, ready } from './common.js';
import { create, get, list, update } from './rest.js';

const text = { type: 'string' };
const credential = {
  type: 'object',
  properties: {
    id: text,
    uri: text,
    created_at: text,
    description: text,
    metadata: text,
    token: { type: 'string', nullable: true },
    acl: { type: 'array', items: text },
    owner_id: text,
  },
};
const page = {
  type: 'object',
  properties: {
    credentials: { type: 'array', items: credential },
    uri: text,
    next_page_uri: { type: 'string', nullable: true },
  },
};

const app = fastify();
app.decorateRequest('caller', undefined);
app.decorateRequest('started', 0);
app.addHook('onRequest', async (/** @type {any} */ request, reply) => {
  request.started = performance.now();
  request.caller = await callerOf(request.headers.authorization);
  if (!request.caller) return reply.code(401).send({ msg: 'unknown API key' });
});
app.addHook('onResponse', async (/** @type {any} */ request, reply) => {
  logRequest(request.raw, reply.statusCode, request.started, request.caller);
});

/** @param {any} request */
const base = (request) => `http://${request.headers.host}`;

app.get(
  '/credentials/:id',
  { schema: { response: { 200: credential } } },
  async (/** @type {any} */ request, /** @type {any} */ reply) => {
    const found = await get(request.caller, request.params.id, base(request));
    return found ?? reply.code(404).send({ msg: 'not found' });
  },
);
app.get('/credentials', { schema: { response: { 200: page } } }, async (/** @type {any} */ request) =>
  list(request.caller, request.query.limit, base(request)),
);
app.post('/credentials', { schema: { response: { 201: credential } } }, async (/** @type {any} */ request, reply) => {
  reply.code(201);
  return create(request.caller, request.body, base(request));
});
app.patch(
  '/credentials/:id',
  { schema: { response: { 200: credential } } },
  async (/** @type {any} */ request, reply) => {
    const found = await update(request.caller, request.params.id, request.body, base(request));
    return found ?? reply.code(404).send({ msg: 'not found' });
  },
);

await app.listen({ port: 0, host: '127.0.0.1' });
ready(/** @type {any} */ (app.server.address()).port);

// PostGraphile 5, under Node 22. It makes its schema from the tables, so its documents differ from the gateway's: there
// is no `uri` and no `token`, and it pages by condition. The account is the variable `accountId` of those documents; this
// server sets it itself, whatever the client sent.

import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { callerOf, logRequest, pool, ready } from './common.js';

/** What the documents ask for. The gateway has tables, such as `node`, whose types would be called as types of PostGraphile's own. */
const TABLES = ['credential', 'owner'];

/** @type {WeakMap<object, import('./common.js').Caller>} */
const callers = new WeakMap();

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ pool: /** @type {any} */ (pool), schemas: ['public'] })],
  grafserv: { graphqlPath: '/graphql', graphiql: false, websockets: false },
  plugins: [
    {
      name: 'TablesPlugin',
      version: '1.0.0',
      gather: {
        hooks: {
          pgIntrospection_introspection(_info, /** @type {any} */ { introspection: { classes, constraints } }) {
            const kept = classes.filter((/** @type {any} */ { relname }) => TABLES.includes(relname));
            const ids = new Set(kept.map((/** @type {any} */ { _id }) => _id));
            // Plugins after this one hold the same arrays.
            classes.splice(0, classes.length, ...kept);
            const among = constraints.filter(
              (/** @type {any} */ { conrelid, confrelid }) => ids.has(conrelid) && (!confrelid || ids.has(confrelid)),
            );
            constraints.splice(0, constraints.length, ...among);
          },
        },
      },
    },
    {
      name: 'AccountPlugin',
      version: '1.0.0',
      grafserv: {
        middleware: {
          processGraphQLRequestBody(next, /** @type {any} */ { body, request }) {
            body.variableValues.accountId = callers.get(request.requestContext.node.req)?.accountId;
            return next();
          },
        },
      },
    },
  ],
});
const handle = instance.createServ(grafserv).createHandler();

const server = createServer(async (request, response) => {
  const started = performance.now();
  const caller = await callerOf(request.headers.authorization);
  response.once('finish', () => logRequest(request, response.statusCode, started, caller));
  if (!caller) return response.writeHead(401).end();
  callers.set(request, caller);
  handle(request, response);
});
server.listen(0, '127.0.0.1', () => ready(/** @type {any} */ (server.address()).port));

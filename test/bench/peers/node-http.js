// Bare node:http + pg: the least that a server can do.

import { createServer } from 'node:http';
import { callerOf, logRequest, ready } from './common.js';
import { create, get, list } from './rest.js';

const server = createServer(async (request, response) => {
  const started = performance.now();
  const caller = await callerOf(request.headers.authorization);
  const [status, answer] = caller ? await handle(request, caller) : [401, { msg: 'unknown API key' }];
  const text = JSON.stringify(answer);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
  logRequest(request, status, started, caller);
});

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {import('./common.js').Caller} caller
 * @returns {Promise<[number, unknown]>}
 */
async function handle(request, caller) {
  const base = `http://${request.headers.host}`;
  const [path = '', query] = (request.url ?? '').split('?');
  if (path === '/credentials') {
    if (request.method === 'POST') {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      return [201, await create(caller, JSON.parse(text), base)];
    }
    return [200, await list(caller, new URLSearchParams(query).get('limit'), base)];
  }
  const found = path.startsWith('/credentials/') && (await get(caller, path.slice('/credentials/'.length), base));
  return found ? [200, found] : [404, { msg: 'not found' }];
}

server.listen(0, '127.0.0.1', () => ready(/** @type {any} */ (server.address()).port));

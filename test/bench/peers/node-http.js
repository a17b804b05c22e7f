// Bare node:http + pg: the least that a server can do.

import { createServer } from 'node:http';
import { callerOf, logRequest, ready } from './common.js';
import * as recorded from './recorded.js';
import { create, get, list, update } from './rest.js';

const writes = process.env.BENCH_ALL_ROWS ? recorded : { create, update };

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
    if (request.method === 'POST') return [201, await writes.create(caller, await bodyOf(request), base)];
    return [200, await list(caller, new URLSearchParams(query).get('limit'), base)];
  }
  const id = path.startsWith('/credentials/') ? path.slice('/credentials/'.length) : '';
  const isChange = request.method === 'PATCH';
  const found = isChange ? await writes.update(caller, id, await bodyOf(request), base) : await get(caller, id, base);
  return found ? [200, found] : [404, { msg: 'not found' }];
}

/** @param {import('node:http').IncomingMessage} request @returns {Promise<any>} */
async function bodyOf(request) {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return JSON.parse(text);
}

server.listen(0, '127.0.0.1', () => ready(/** @type {any} */ (server.address()).port));

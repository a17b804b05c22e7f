// An origin in Node, with the answers of nginx.js: for where nginx is not installed, which the results then say, as a slower
// origin makes all paths look alike; and for what nginx cannot do, an upload that is never read.

import { createServer } from 'node:http';
import { DOWN_BYTES, PAGE_BYTES, SMALL } from './cases.js';

const page = Buffer.alloc(PAGE_BYTES, 'x');
const piece = Buffer.alloc(1024 * 1024);

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) => {
  if (request.url === '/small') return answer(response, SMALL);
  if (request.url === '/page') return answer(response, page);
  if (request.url === '/large') return large(response);
  if (request.url === '/stall') return;
  // An upload is answered when all of it has come.
  request.resume().once('end', () => answer(response, SMALL));
});

/** @param {import('node:http').ServerResponse} response @param {string | Buffer} body */
function answer(response, body) {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': body.length }).end(body);
}

/** @param {import('node:http').ServerResponse} response */
function large(response) {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': DOWN_BYTES });
  let left = DOWN_BYTES;
  const go = () => {
    while (left > 0) {
      const bytes = Math.min(left, piece.length);
      left -= bytes;
      if (!response.write(piece.subarray(0, bytes))) return response.once('drain', go);
    }
    return response.end();
  };
  go();
}

server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.stdout.write(`ready ${port}\n`);
});

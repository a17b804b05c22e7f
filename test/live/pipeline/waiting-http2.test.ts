// The same for visitors of HTTP/2: what comes while a module makes up its mind keeps its order.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startScript } from '../../edge/http1/support.ts';
import { listen } from '../../edge/sockets.ts';
import { type Edge, startEdge } from '../../edge/tls/support.ts';
import { bodyOf } from './lab.ts';
import { Waiting } from './waiting-module.ts';

let edge: Edge;
let waiting: Waiting;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());
beforeEach(() => {
  waiting = new Waiting();
});

let names = 0;
/** A session with an endpoint before a port. */
async function visited(port: number) {
  const name = `w${++names}.tunnel.localhost`;
  edge.serve(name, port).rules = waiting.rules;
  return edge.visitHttp2(name);
}

describe('what upstream sends while its answer is decided on comes after it, in order:', () => {
  test.each<[string, string[], boolean, string]>([
    ['all in one piece', ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'], false, 'body'],
    ['in pieces', ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', 'bo', 'dy'], false, 'body'],
    ['in pieces, and closes', ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', 'bo', 'dy'], true, 'body'],
    [
      'in chunks, and closes',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nb', 'o\r\n2\r\ndy\r\n0', '\r\n\r\n'],
      true,
      'body',
    ],
    ['up to the end, which comes, too', ['HTTP/1.1 200 OK\r\n\r\nbo', 'dy'], true, 'body'],
  ])('%s', async (_, pieces, closes, body) => {
    const answers = waiting.holdAnswers();
    const script = await startScript();
    const session = await visited(script.port);
    const stream = session.request({});
    const upstream = await script.next();
    await upstream.until('\r\n\r\n');
    for (const piece of pieces) {
      upstream.send(piece);
      await answers.reached;
      await new Promise(setImmediate);
    }
    if (closes) {
      upstream.socket.end();
      await new Promise(setImmediate);
    }
    answers.open();
    const [headers] = await once(stream, 'response');
    expect(headers).toMatchObject({ ':status': 200, 'x-seen': 'yes' });
    expect(String(await bodyOf(stream))).toBe(body);
    expect(waiting.outcomes).toEqual([200]);
    session.destroy();
  });
});

test('a visitor who takes back a request while it is decided on is not let through to upstream', async () => {
  const requests = waiting.holdRequests();
  let asked = 0;
  const upstream = createServer((_, response) => {
    asked++;
    response.end('ok');
  });
  const session = await visited(await listen(upstream));
  const stream = session.request({}, { endStream: true });
  stream.on('error', () => {});
  await requests.reached;
  stream.close(8);
  await new Promise((resolve) => session.ping(resolve)); // The gateway has seen it by then.
  requests.open();
  await new Promise(setImmediate);
  expect([asked, waiting.outcomes]).toEqual([0, ['unasked']]);
  session.destroy();
  upstream.close();
});

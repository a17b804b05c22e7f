// Bytes of any kind, from visitors and from upstreams: nothing breaks, hangs, or passes for more than it is.

import { createServer } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen } from '../sockets.ts';
import { corpus } from './hostile-requests.ts';
import { allowHalfClose, type Edge, startEdge, startUpstream, visit } from './support.ts';

let edge: Edge;

beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const latin1 = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
  maxLength: 6,
});
const spice = fc.constantFrom(
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  ':',
  '\0',
  '0\r\n\r\n',
  'Content-Length: 1\r\n',
  'chunked',
  ',',
);
const cut = fc.double({ min: 0, max: 1, noNaN: true });
const change = fc.record({ at: cut, gone: fc.integer({ min: 0, max: 4 }), put: fc.oneof(latin1, spice) });

/** A text of the list with a few bytes of it taken out and others put in. */
const spoilt = (texts: string[]) =>
  fc.tuple(fc.constantFrom(...texts), fc.array(change, { maxLength: 3 })).map(([text, changes]) => {
    let all = text;
    for (const { at, gone, put } of changes) {
      const from = Math.floor(at * all.length);
      all = all.slice(0, from) + put + all.slice(from + gone);
    }
    return all;
  });

test('no request in becomes two requests out', async () => {
  let reached = 0;
  const upstream = createServer((request, response) => {
    reached++;
    request.resume().on('end', () => response.end('ok'));
  });
  allowHalfClose(edge.serve('app.test', await listen(upstream)));
  const requests = spoilt(corpus.map(({ bytes }) => bytes).filter((bytes) => bytes.length < 1000));
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 1, maxLength: 2 }), async (parts) => {
      reached = 0;
      const visitor = await visit(edge.port, { allowHalfOpen: true });
      visitor.send(parts.join('')).socket.end();
      const answers = [...(await visitor.toEnd()).matchAll(/HTTP\/1\.1 \d{3} /g)].length;
      expect(reached).toBeLessThanOrEqual(answers);
    }),
    { numRuns: 300 },
  );
  upstream.closeAllConnections();
  upstream.close();
});

const ANSWERS = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: A\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close, A\r\nA: b\r\n\r\n',
  'HTTP/1.0 200 OK\r\nServer: x\r\n\r\nuntil the end',
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello',
];

test('whatever an upstream sends, the visitor gets one answer, or a cut one', async () => {
  let answer = '';
  const port = await startUpstream((peer) => {
    peer.send(answer).socket.end();
  });
  allowHalfClose(edge.serve('app.test', port));
  await fc.assert(
    fc.asyncProperty(fc.oneof(spoilt(ANSWERS), latin1), fc.boolean(), async (bytes, isUpgrade) => {
      answer = bytes;
      const visitor = await visit(edge.port, { allowHalfOpen: true });
      const option = isUpgrade ? 'Upgrade\r\nUpgrade: x' : 'close';
      visitor.send(`GET / HTTP/1.1\r\nHost: app.test\r\nConnection: ${option}\r\n\r\n`).socket.end();
      const text = await visitor.toEnd();
      const how = await visitor.closed;
      if (how === 'end') expect(text).toMatch(/^HTTP\/1\.1 \d{3}/);
      else expect(how).toBe('reset');
    }),
    { numRuns: 300 },
  );
});

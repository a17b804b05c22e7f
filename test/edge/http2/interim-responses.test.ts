// Interim answers on their way to visitors of HTTP/2: those that are not read are not kept.

import { EventEmitter, once } from 'node:events';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { listen } from '../sockets.ts';
import { type Edge, startEdge } from '../tls/support.ts';
import { answer, NAME, script, visit } from './support.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const HINT_BYTES = 2 * 1024;
/** All hints of an answer are a little less than there may be. */
const HINTS = 120;
const STREAMS = 90;
const hint = (at: number) => `HTTP/1.1 103 Early Hints\r\nLink: </${at}>; a="${'x'.repeat(HINT_BYTES - 56)}"\r\n\r\n`;
const allHints = Array.from({ length: HINTS }, (_, at) => hint(at)).join('');

test('a visitor who does not read is not sent all of 22 MB of interim answers, and gets the answers', async () => {
  const sent: Promise<unknown>[] = [];
  await script(edge, (socket) => {
    sent.push(
      new Promise((resolve) => socket.write(`${allHints}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`, resolve)),
    );
  });
  const far = connect(edge.port, '127.0.0.1');
  const server = createServer((near) => void far.pipe(near).pipe(far));
  onTestFinished(() => void server.close());
  const visitor = connect(await listen(server), '127.0.0.1');
  onTestFinished(() => void visitor.destroy());
  const session = await edge.visitHttp2(NAME, visitor);
  let hints = 0;
  const first = session.request({ ':path': '/' });
  await answer(first);
  far.pause();
  const answers = Array.from({ length: STREAMS }, () => {
    const stream = session.request({ ':path': '/' });
    stream.on('headers', () => hints++);
    return answer(stream);
  });
  await eventually(() => expect(sent).toHaveLength(1 + STREAMS));
  await Promise.all(sent);
  far.resume();
  for (const { headers, body } of await Promise.all(answers))
    expect([headers[':status'], String(body)]).toEqual([200, 'ok']);
  expect(hints * HINT_BYTES).toBeLessThan(15_000_000);
});

test.each(['HTTP/1.1', 'HTTP/2'])('more than 256 KiB of them is no answer, to a visitor of %s', async (version) => {
  const ends: Promise<unknown>[] = [];
  await script(edge, (socket) => {
    ends.push(new Promise((resolve) => socket.once('close', resolve)));
    const flood = () => {
      while (!socket.destroyed && socket.write(allHints));
    };
    socket.on('drain', flood);
    flood();
  });
  if (version === 'HTTP/2') {
    const { headers, body } = await answer((await visit(edge)).request({ ':path': '/' }));
    expect(headers[':status']).toBe(502);
    expect(String(body)).toMatch(/^ERR_GATEWAY_90106/);
  } else {
    const visitor = await edge.visit(NAME);
    onTestFinished(() => void visitor.destroy());
    visitor.write(`GET / HTTP/1.1\r\nHost: ${NAME}\r\nConnection: close\r\n\r\n`);
    expect(await text(visitor)).toMatch(/\r\n\r\nHTTP\/1\.1 502 .*ERR_GATEWAY_90106/s);
  }
  await Promise.all(ends);
});

test('those of a request that failed do not count against the next one on the same connection', async () => {
  await script(edge, (socket, request) => {
    socket.write(allHints);
    socket.end(request.startsWith('GET /fails') ? '' : 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  const visitor = await edge.visit(NAME);
  onTestFinished(() => void visitor.destroy());
  visitor.write(`GET /fails HTTP/1.1\r\nHost: ${NAME}\r\n\r\n`);
  visitor.write(`GET / HTTP/1.1\r\nHost: ${NAME}\r\nConnection: close\r\n\r\n`);
  const answers = (await text(visitor)).match(/^HTTP\/1\.1 (?!103)\d+/gm);
  expect(answers).toEqual(['HTTP/1.1 502', 'HTTP/1.1 200']);
});

test('a visitor who reads gets each of a hundred, one after the other', async () => {
  const read = new EventEmitter();
  await script(edge, async (socket) => {
    for (let at = 0; at < 100; at++) {
      const hinted = once(read, 'hint');
      socket.write(hint(at));
      await hinted;
    }
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  const stream = (await visit(edge)).request({ ':path': '/' });
  stream.on('headers', () => read.emit('hint'));
  expect((await answer(stream)).headers[':status']).toBe(200);
});

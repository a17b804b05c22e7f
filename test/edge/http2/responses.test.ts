// Answers that are unusual, and none that a visitor of HTTP/2 must do without.

import type { IncomingMessage } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { request as overHttps } from 'node:https';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { asHttp2, frame, type Nonsense } from '../http1/random-responses.ts';
import { listen, readAll } from '../sockets.ts';
import { type Edge, startEdge } from '../tls/support.ts';
import { answer, ask, NAME, script, visit } from './support.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

const H2_NAME = 'grpc.tunnel.localhost';

const PLAIN: Nonsense = {
  interims: [],
  status: '200',
  fields: [],
  body: Buffer.alloc(0),
  trailers: [],
  framing: 'none',
  isBroken: false,
};

/** Makes a service of HTTP/2 available that answers all with the same. Ends with the test. */
async function answerAll(given: Partial<Nonsense>): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(frame(4, 0, 0, Buffer.alloc(0)));
    // The request's head comes in a piece of its own, or with what comes before it: in any case it is the first stream.
    socket.once('data', () => socket.write(asHttp2({ ...PLAIN, ...given }, 1)));
  });
  const endpoint = edge.serve(H2_NAME, await listen(server), { upstreamProtocol: 'http2' });
  onTestFinished(() => {
    edge.endpoints.remove(endpoint);
    server.close();
  });
}

/** What a visitor of HTTP/1.1 is answered, interim answers first. */
async function askHttp1(name: string): Promise<{ status: number | undefined; interims: unknown[]; body: string }> {
  const { port, ca } = edge;
  const options = { host: '127.0.0.1', port, ca, servername: name, agent: false, headers: { Host: name } };
  const sent = overHttps(options);
  const interims: unknown[] = [];
  sent.on('information', ({ statusCode, rawHeaders }) => interims.push([statusCode, rawHeaders]));
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve).on('error', reject).end();
  });
  return { status: response.statusCode, interims, body: String(await readAll(response as never)) };
}

/** Without what Node adds. */
function plain(fields: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(fields));
}

describe('an upstream of HTTP/1.1', () => {
  const reply = async (head: string, body = '') => {
    await script(edge, (socket) => socket.end(Buffer.from(`${head}\r\n${body}`, 'latin1')));
    return ask(await visit(edge));
  };

  test.each([600, 799, 999])(
    'the status %i reaches the visitor, with its fields, its body and its trailer',
    async (status) => {
      const head = `HTTP/1.1 ${status} Mine\r\nX-Mine: yes\r\nTransfer-Encoding: chunked\r\n`;
      const { headers, body, trailers } = await reply(head, '5\r\nhello\r\n0\r\nX-Last: 1\r\n\r\n');
      expect(headers).toMatchObject({ ':status': status, 'x-mine': 'yes' });
      expect(String(body)).toBe('hello');
      expect(trailers).toMatchObject({ 'x-last': '1' });
    },
  );

  test('fields of a connection do not go on, TE among them; of one that may stand once the first does', async () => {
    const once =
      'Content-Type: a/b\r\nContent-Type: c/d\r\nX-Content-Type-Options: nosniff\r\nX-Content-Type-Options: x\r\n';
    const lists = 'Link: <a>\r\nLink: <b>\r\nContent-Language: de\r\nContent-Language: en\r\n';
    const hop = 'TE: gzip\r\nKeep-Alive: timeout=5\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n';
    const { headers } = await reply(`HTTP/1.1 200 OK\r\n${once}${lists}${hop}Content-Length: 0\r\n`);
    const { date: _, ...fields } = plain(headers);
    expect(fields).toEqual({
      ':status': 200,
      'content-type': 'a/b',
      'x-content-type-options': 'nosniff',
      link: '<a>, <b>',
      'content-language': 'de, en',
      'content-length': '0',
    });
  });

  test('all that is known of an answer in advance arrives, but what HTTP/2 forbids', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\nLink: <b>\r\nTE: x\r\nETag: "1"\r\nETag: "2"\r\n\r\n';
    await script(edge, (socket) => socket.end(`${interim}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`));
    const stream = (await visit(edge)).request({ ':path': '/' });
    const interims: IncomingHttpHeaders[] = [];
    stream.on('headers', (fields) => interims.push(plain(fields)));
    expect(String((await answer(stream)).body)).toBe('ok');
    expect(interims).toEqual([{ ':status': 103, link: '<a>, <b>', etag: '"1"' }]);
  });

  test.each([
    ['204', 'Content-Length: 5\r\n', ''],
    ['205', 'Content-Length: 5\r\n', 'hello'],
    ['205', 'Content-Length: 0\r\n', ''],
    ['205', 'Transfer-Encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'],
    ['205', '', 'until the end'],
  ])('a %s with "%s" has no content and states no length', async (status, framing, sent) => {
    const { headers, body, code } = await reply(`HTTP/1.1 ${status} X\r\n${framing}`, sent);
    expect([headers[':status'], headers['content-length'], body.length, code]).toEqual([
      Number(status),
      undefined,
      0,
      0,
    ]);
  });

  test('a head as large as one may be reaches the visitor, and the connection goes on', async () => {
    const many = Array.from({ length: 6000 }, (_, i) => `x${i}:\r\n`).join('');
    await script(edge, (socket) => socket.end(`HTTP/1.1 200 OK\r\n${many}Content-Length: 0\r\n\r\n`));
    const socket = await edge.visit(NAME, { ALPNProtocols: ['h2'] });
    onTestFinished(() => void socket.destroy());
    const settings = { maxHeaderListSize: 1_000_000 };
    const options = { createConnection: () => socket, maxHeaderListPairs: 10_000, settings };
    const session = connect(`https://${NAME}:${edge.port}`, options);
    for (let i = 0; i < 2; i++) expect(Object.keys((await ask(session)).headers)).toHaveLength(6003);
  });
});

describe('an upstream of HTTP/2', () => {
  const links: [string, string][] = [
    ['link', '</a.css>; rel=preload'],
    ['link', '</b.js>; rel=preload'],
    ['x-more', '1'],
  ];

  test('two Link in one 103 arrive, in both protocols, and whatever else is in it', async () => {
    await answerAll({ interims: [{ status: '103', fields: links }], body: Buffer.from('ok') });
    const { interims, body } = await askHttp1(H2_NAME);
    expect(interims).toEqual([[103, links.flat()]]);
    expect(body).toBe('ok');
    const stream = (await visit(edge, H2_NAME)).request({ ':path': '/' });
    const seen: IncomingHttpHeaders[] = [];
    stream.on('headers', (fields) => seen.push(plain(fields)));
    expect(String((await answer(stream)).body)).toBe('ok');
    expect(seen).toEqual([{ ':status': 103, link: '</a.css>; rel=preload, </b.js>; rel=preload', 'x-more': '1' }]);
  });

  test('the status 799 reaches visitors of both protocols', async () => {
    await answerAll({ status: '799', body: Buffer.from('mine') });
    expect(await askHttp1(H2_NAME)).toMatchObject({ status: 799, body: 'mine' });
    expect((await ask(await visit(edge, H2_NAME))).headers[':status']).toBe(799);
  });

  test('the status 099 is none', async () => {
    await answerAll({ status: '099' });
    expect((await ask(await visit(edge, H2_NAME))).headers[':status']).toBe(502);
  });

  test('an answer that announces a trailer and states its length arrives, without the trailer', async () => {
    const body = Buffer.from('hello');
    await answerAll({ fields: [['trailer', 'x-last']], body, framing: 'length', trailers: [['x-last', '1']] });
    expect(await askHttp1(H2_NAME)).toMatchObject({ status: 200, body: 'hello' });
  });

  test('an answer of 300 fields arrives', async () => {
    await answerAll({ fields: Array.from({ length: 300 }, (_, i) => [`x-${i}`, '1']) });
    expect(await askHttp1(H2_NAME)).toMatchObject({ status: 200 });
  });
});

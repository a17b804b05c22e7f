// Modules that take their time with a request, or with an answer: what comes meanwhile keeps its order. None of those that
// there are does so with answers, so the tests have one of their own.

import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { noopReporter } from '../../../src/edge/reports/traffic-reports.ts';
import { type Edge, type Peer, startEdge, startScript, type TestEndpoint, visit } from '../../edge/http1/support.ts';
import { listen } from '../../edge/sockets.ts';
import { Waiting } from './waiting-module.ts';

let edge: Edge;
let waiting: Waiting;
const refused: string[] = [];

beforeAll(async () => {
  edge = await startEdge({
    context: {
      services: {
        time: () => Date.now(),
        newOperationId: () => 'op_1',
        logRefusal: ({ reason }) => void refused.push(reason),
        logFailure: (error) => {
          throw error;
        },
        reporter: noopReporter,
      },
    },
  });
});
afterAll(() => edge.close());
beforeEach(() => {
  waiting = new Waiting();
});

function serve(port: number): TestEndpoint {
  return Object.assign(edge.serve('app.test', port), { rules: waiting.rules });
}

/** A visitor whose request has come to upstream. */
async function asked(head = 'GET / HTTP/1.1'): Promise<{ visitor: Peer; upstream: Peer }> {
  const script = await startScript();
  serve(script.port);
  const visitor = await visit(edge.port);
  visitor.send(`${head}\r\nHost: app.test\r\n\r\n`);
  const upstream = await script.next();
  await upstream.until('\r\n\r\n');
  return { visitor, upstream };
}

describe('what upstream sends while its answer is decided on comes after it, in order:', () => {
  test.each<[string, string[], boolean, string]>([
    ['all in one piece', ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'], false, 'body'],
    ['in pieces', ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n', 'bo', 'd', 'y'], false, 'body'],
    [
      'in chunks',
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nb', 'o\r\n2\r\ndy\r\n0', '\r\n\r\n'],
      false,
      '2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n',
    ],
    ['up to the end, which comes, too', ['HTTP/1.1 200 OK\r\n\r\nbo', 'dy'], true, 'body'],
    ['nothing, and the end', ['HTTP/1.1 200 OK\r\n\r\n'], true, ''],
    ['204', ['HTTP/1.1 204 No Content\r\n\r\n'], false, ''],
  ])('%s', async (_, pieces, ends, body) => {
    const answers = waiting.holdAnswers();
    const { visitor, upstream } = await asked();
    for (const piece of pieces) {
      upstream.send(piece);
      await answers.reached; // The first has come.
      await new Promise(setImmediate);
    }
    if (ends) upstream.socket.end();
    await new Promise(setImmediate);
    expect(visitor.text).toBe('');
    answers.open();
    await visitor.until((text) => text.includes('\r\n\r\n') && text.endsWith(body) && text.length > body.length);
    expect(visitor.text).toMatch(/^HTTP\/1\.1 20[04] [^\r]*\r\n(?:[^\r]+\r\n)*x-seen: yes\r\n/);
    expect(visitor.text.slice(visitor.text.indexOf('\r\n\r\n') + 4)).toBe(body);
    expect(waiting.outcomes).toHaveLength(1);
  });
});

test('an upstream that has closed behind its answer is not asked again', async () => {
  let connections = 0;
  const upstream = createTcpServer((socket) => {
    connections++;
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody'));
  });
  const endpoint = serve(await listen(upstream));
  const open = endpoint.open.bind(endpoint);
  let tellEnd = () => {};
  endpoint.open = (visitor, events) => {
    const onEnd = () => {
      events.onEnd();
      tellEnd();
    };
    const [onData, onReset] = [events.onData.bind(events), events.onReset.bind(events)];
    return open(visitor, { onData, onEnd, onReset, onDrain: () => events.onDrain() });
  };
  const visitor = await visit(edge.port);
  for (let i = 1; i <= 2; i++) {
    const answers = waiting.holdAnswers();
    const ended = new Promise<void>((resolve) => {
      tellEnd = resolve;
    });
    visitor.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
    await Promise.all([answers.reached, ended]);
    answers.open();
    await visitor.until('body');
    visitor.take();
  }
  expect(connections).toBe(2);
  upstream.close();
});

test('interim answers do not wait, and the answer comes after them', async () => {
  const answers = waiting.holdAnswers();
  const { visitor, upstream } = await asked();
  upstream.send('HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  await visitor.until('HTTP/1.1 103');
  await answers.reached;
  answers.open();
  await visitor.until('x-seen: yes');
});

test('another answer takes the place of one that has come, and the connection goes on', async () => {
  const answers = waiting.holdAnswers();
  const { visitor, upstream } = await asked();
  upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n').send(Buffer.alloc(500_000));
  await answers.reached;
  answers.open({ kind: 'answer', status: 418, fields: [], body: Buffer.from('mine') });
  await visitor.until('mine');
  expect(visitor.take()).toMatch(/^HTTP\/1\.1 418 .*keep-alive\r\n\r\nmine$/s);
  expect(await upstream.closed).toBeDefined();
  expect(waiting.outcomes).toEqual([200]);
});

test('a visitor who leaves while a request is decided on is not let through to upstream', async () => {
  const requests = waiting.holdRequests();
  const script = await startScript();
  const endpoint = serve(script.port);
  const visitor = await visit(edge.port);
  visitor.send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  await requests.reached;
  visitor.socket.resetAndDestroy();
  await visitor.closed;
  const other = await visit(edge.port); // When it is answered, the first one’s end was seen.
  other.send('GET / HTTP/1.1\r\nHost: nobody.test\r\n\r\n');
  await other.until('404');
  requests.open();
  await new Promise(setImmediate);
  expect(endpoint.opened).toBe(0);
  expect(waiting.outcomes).toEqual(['unasked']);
});

test('a visitor who leaves while an answer is decided on lets upstream go', async () => {
  const answers = waiting.holdAnswers();
  const { visitor, upstream } = await asked();
  upstream.send('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
  await answers.reached;
  visitor.socket.resetAndDestroy();
  expect(await upstream.closed).toBeDefined();
  answers.open({ kind: 'refuse', error: 'moduleFailed', reason: 'too late' });
  expect(waiting.outcomes).toEqual([200]);
});

test('a connection that is closed by a module while the next requests wait takes them along', async () => {
  const requests = waiting.holdRequests();
  const upstream = createServer((_, response) => response.end('ok'));
  const endpoint = serve(await listen(upstream));
  const visitor = await visit(edge.port);
  visitor.send('GET /1 HTTP/1.1\r\nHost: app.test\r\n\r\n'.repeat(3));
  await requests.reached;
  requests.open({ kind: 'close', reason: 'enough' });
  expect(await visitor.toEnd()).toBe('');
  expect(endpoint.opened).toBe(0);
  expect(refused).toContain('enough');
  upstream.close();
});

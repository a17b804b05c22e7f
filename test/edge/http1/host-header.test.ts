// Services that are asked by a name of their own, and answer with links to themselves.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HttpExchange } from '../../../src/http/exchange.ts';
import { startApp } from './app.ts';
import { type Edge, moduleRules, startEdge, visit } from './support.ts';

let edge: Edge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.close());

/** The endpoint `app.test`, whose service is `dev.site:3000`. */
async function start() {
  const app = await startApp(edge);
  const module = {
    name: 'host_header',
    onRequest({ upstreamTerms }: HttpExchange) {
      if (upstreamTerms) upstreamTerms.host = { scheme: 'http', host: 'dev.site:3000' };
      return undefined;
    },
  };
  Object.assign(app.endpoint, moduleRules([module]));
  return app;
}

const fieldsOf = (head: string) => head.split('\r\n').slice(1, -2);

test('towards the service Host, Origin, Referer and Destination are its own where they were the endpoint’s', async () => {
  const app = await start();
  const visitor = await visit(edge.port);
  visitor.send(
    [
      'MOVE /a HTTP/1.1',
      'Host: app.test:8080',
      'Origin: https://app.test:8080',
      'Referer: http://App.test:8080/page?q=http://app.test:8080',
      'Destination: http://app.test:8080/b',
      'X-Link: http://app.test:8080/',
      '\r\n',
    ].join('\r\n'),
  );
  const first = await app.next();
  expect(fieldsOf(await first.until('\r\n\r\n'))).toEqual([
    'Host: dev.site:3000',
    'Origin: http://dev.site:3000',
    'Referer: http://dev.site:3000/page?q=http://app.test:8080',
    'Destination: http://dev.site:3000/b',
    'X-Link: http://app.test:8080/',
    'X-Forwarded-For: 127.0.0.1',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: app.test:8080',
  ]);
  first.take();
  first.send('HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok');
  await visitor.until('ok');
  visitor.send(
    'GET / HTTP/1.1\r\nHost: app.test\r\nOrigin: https://app.test.evil.example\r\nReferer: https://other.example/app.test\r\n\r\n',
  );
  expect(fieldsOf(await first.until('\r\n\r\n')).slice(0, 3)).toEqual([
    'Host: dev.site:3000',
    'Origin: https://app.test.evil.example',
    'Referer: https://other.example/app.test',
  ]);
});

test('back, Location, Content-Location, Refresh and the domains of cookies lead to the endpoint', async () => {
  const app = await start();
  const visitor = (await visit(edge.port)).send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.send(
    [
      'HTTP/1.1 302 Found',
      'Location: http://dev.site:3000/login?next=http://dev.site:3000/',
      'Content-Location: //DEV.site:3000/x',
      'Refresh: 5; url="https://dev.site:3000/y"',
      'Set-Cookie: a=1; Domain=.dev.site; Path=/',
      'Set-Cookie: b=2; Domain=other.example',
      'Set-Cookie: c=3',
      'Link: <http://dev.site:3000/>',
      'Content-Length: 2',
      '',
      'ok',
    ].join('\r\n'),
  );
  const [head = ''] = (await visitor.until('ok')).split(/(?<=\r\n\r\n)/);
  expect(fieldsOf(head)).toEqual([
    'Location: http://app.test/login?next=http://dev.site:3000/',
    'Content-Location: http://app.test/x',
    'Refresh: 5; url="http://app.test/y"',
    'Set-Cookie: a=1; Domain=app.test; Path=/',
    'Set-Cookie: b=2; Domain=other.example',
    'Set-Cookie: c=3',
    'Link: <http://dev.site:3000/>',
    'Content-Length: 2',
  ]);
});

test('a Location elsewhere stays, and a WebSocket asks by the name of the service, too', async () => {
  const app = await start();
  const visitor = (await visit(edge.port)).send('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  const upstream = await app.next();
  await upstream.until('\r\n\r\n');
  upstream.take();
  upstream.send('HTTP/1.1 302 Found\r\nLocation: http://dev.site:30001/\r\nContent-Length: 0\r\n\r\n');
  expect(await visitor.until('\r\n\r\n')).toContain('Location: http://dev.site:30001/\r\n');
  visitor.send(
    'GET /hmr HTTP/1.1\r\nHost: app.test\r\nOrigin: http://app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  );
  expect(fieldsOf(await upstream.until('\r\n\r\n')).slice(0, 2)).toEqual([
    'Host: dev.site:3000',
    'Origin: http://dev.site:3000',
  ]);
  upstream.send('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello');
  await visitor.until('hello');
});

// The API's connections: how many there may be and who goes when there are too many, and requests that break HTTP.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Account, sharedGateway, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { subscribe } from '../support/gateway/sse.ts';
import { closed, exchange, opened } from './http-reader.ts';

const MAX = 32;
/** What one address may have, as all that is not a trusted proxy. */
const SHARE = MAX / 4;

describe('of one address', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ MAX_API_CONNECTIONS: String(MAX) });
  });
  afterAll(() => gateway.close());

  test('a quarter of all connections may be open; who came first and does nothing goes first', async () => {
    const stream = await subscribe(gateway.api, gateway.key, 'subscription { credentialChanged { action } }');
    const idle: Socket[] = [];
    for (let i = 0; i < 2 * SHARE; i++) idle.push((await opened(gateway.api)).resume());
    // One more than fit beside the subscription, and the connection that `call` keeps, may have made room for it.
    await Promise.all(idle.slice(0, SHARE).map(closed));
    expect((await gateway.call('POST', '/credentials', {})).status).toBe(201);
    expect(await stream.next()).toMatchObject({ data: { credentialChanged: { action: 'CREATED' } } });
    stream.close();
    for (const socket of idle) socket.destroy();
  });

  test('heads that never end do not keep others out', async () => {
    const slow = await Promise.all(
      Array.from({ length: 2 * SHARE }, () => opened(gateway.api, 'GET / HTTP/1.1\r\nHost: localhost\r\nX-')),
    );
    for (let i = 0; i < 3; i++) {
      const answer = await exchange(gateway.api, 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      expect(answer.status).toBe(200);
    }
    for (const socket of slow) socket.destroy();
  });

  test('more requests than anybody has a use for, sent before one answer is read, end the connection', async () => {
    const request = 'GET /graphql?query={__typename} HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const answers = await text(await opened(gateway.api, request.repeat(500))).catch(() => '');
    expect(answers.match(/^HTTP\/1\.1 200/gm)?.length ?? 0).toBeLessThan(500);
  });
});

describe('requests that are sent together on one connection', () => {
  const request = (account: Account, line: string, body = '', more = '') =>
    `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.key}\r\nService-Version: 2\r\n${more}${
      body && `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    }\r\n${body}`;
  let gateway: TestGateway;
  let account: Account;
  beforeAll(async () => {
    gateway = await sharedGateway();
    account = await gateway.newAccount();
  });

  test('are done one after the other: each sees what those before it wrote', async () => {
    const writes = Array.from({ length: 7 }, (_, i) => [
      request(account, 'POST /bot_users', `{"name":"bot ${i}"}`),
      request(account, 'GET /bot_users'),
    ]);
    const bytes = [...writes.flat(), request(account, 'GET /', '', 'Connection: close\r\n')].join('');
    const answers = await text((await opened(gateway.api, bytes)).resume());
    const seen = [...answers.matchAll(/"bot_users":(\[.*?\])/g)].map(([, list = '[]']) => JSON.parse(list).length);
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('wait for an answer that has no end, and are never begun when the connection ends', async () => {
    const watch = JSON.stringify({ query: 'subscription { credentialChanged { action } }' });
    const stream = 'Accept: text/event-stream\r\n';
    const bytes = request(account, 'POST /graphql', watch, stream) + request(account, 'POST /credentials', '{}');
    const socket = await opened(gateway.api, bytes);
    const [head] = await once(socket.resume(), 'data');
    expect(String(head)).toMatch(/^HTTP\/1\.1 200 /);
    const made = async () => (await account.call('GET', '/credentials')).body.credentials;
    expect(await made()).toEqual([]);
    socket.destroy();
    await closed(socket);
    expect(await made()).toEqual([]);
  });
});

describe('a request that breaks HTTP', () => {
  let gateway: TestGateway;
  let account: Account;
  beforeAll(async () => {
    gateway = await sharedGateway();
    account = await gateway.newAccount();
  });

  const OK = 'Host: localhost';
  test.each([
    ['two Host fields', 'GET / HTTP/1.1', [OK, 'host: elsewhere.example'], 400, '90310'],
    ['two Host fields that say the same', 'GET / HTTP/1.1', [OK, OK], 400, '90310'],
    ['no Host', 'GET / HTTP/1.1', [], 400, '90310'],
    [
      'two Authorization fields',
      'GET /credentials HTTP/1.1',
      [OK, 'Authorization: KEY', 'authorization: KEY'],
      400,
      '90310',
    ],
    ['two lengths', 'POST /credentials HTTP/1.1', [OK, 'Content-Length: 2', 'Content-Length: 2'], 400, '90310'],
    ['two lengths in one field', 'POST /credentials HTTP/1.1', [OK, 'Content-Length: 2, 2'], 400, '90310'],
    [
      'a length and chunks',
      'POST /graphql HTTP/1.1',
      [OK, 'Content-Length: 2', 'Transfer-Encoding: chunked'],
      400,
      '90310',
    ],
    ['a coding before chunks', 'POST /graphql HTTP/1.1', [OK, 'Transfer-Encoding: gzip, chunked'], 400, '90310'],
    [
      'chunks twice',
      'POST /graphql HTTP/1.1',
      [OK, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
      400,
      '90310',
    ],
    ...['HTTP/2.0', 'HTTP/2', 'HTTP/3.7', 'HTTP/10.1', 'HTTP/1.2', 'HTTP/0.9', 'HTTP/2.0x'].map(
      (version): [string, string, string[], number, string] => [version, `GET / ${version}`, [OK], 505, '90316'],
    ),
    ['the preface of HTTP/2', 'PRI * HTTP/2.0', ['', 'SM'], 505, '90316'],
    ['a version that is none', 'GET / HTTP/1.1x', [OK], 400, '90310'],
    ['another protocol', 'GET / SPDY/3.1', [OK], 400, '90310'],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1', [OK], 405, '90003'],
    ['CONNECT of a path', 'CONNECT /credentials HTTP/1.1', [OK, 'Authorization: KEY'], 405, '90003'],
    ['CONNECT of HTTP/2', 'CONNECT example.com:443 HTTP/2.0', [OK], 505, '90316'],
    ['a field without a colon', 'GET / HTTP/1.1', [OK, 'nonsense'], 400, '90310'],
    ['a head that is too large', 'GET / HTTP/1.1', [OK, `X: ${'x'.repeat(20_000)}`], 431, '90311'],
    ['an expectation nobody knows', 'GET / HTTP/1.1', [OK, 'Expect: a miracle'], 417, '90313'],
  ])(
    'by %s is refused with the error body and its operation id, and the connection ends',
    async (_, line, fields, status, number) => {
      const key = `Bearer ${account.key}`;
      const answer = await exchange(gateway.api, `${[line, ...fields].join('\r\n').replaceAll('KEY', key)}\r\n\r\n`);
      expect(answer.status).toBe(status);
      expect(answer.head).toMatch(/^connection: close$/im);
      expect(answer.head).toMatch(/^content-type: application\/json; charset=utf-8$/im);
      const id = /^service-operation-id: (\S+)$/im.exec(answer.head)?.[1];
      expect(answer.body).toEqual({
        error_code: `ERR_GATEWAY_${number}`,
        status_code: status,
        msg: expect.any(String),
        details: { operation_id: id },
      });
      expect(await gateway.logged((logged) => logged.operation_id === id)).toMatchObject({ status });
    },
  );

  test('while an answer is under way on its connection is not answered in the middle of that', async () => {
    const answer = await exchange(gateway.api, `GET /openapi.json HTTP/1.1\r\n${OK}\r\n\r\nnonsense\r\n\r\n`);
    expect(`${answer.head}\n${JSON.stringify(answer.body)}`.match(/^HTTP\/1\.1 \d/gm)).toHaveLength(1);
  });

  const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

  test('CONNECT is told what is taken instead, behind the answers of before it, and whatever follows it', async () => {
    const before = `GET /openapi.json HTTP/1.1\r\n${OK}\r\n\r\n`;
    const hello = `\x16\x03\x01 and so on`;
    const bytes = `${before}${before}CONNECT example.com:443 HTTP/1.1\r\n${OK}\r\n\r\n${hello}`;
    const answers = await text(await opened(gateway.api, bytes));
    expect(answers.match(/HTTP\/1\.1 \d+ /g)).toEqual(['HTTP/1.1 200 ', 'HTTP/1.1 200 ', 'HTTP/1.1 405 ']);
    const last = answers.slice(answers.lastIndexOf('HTTP/1.1 405 '));
    expect(last).toMatch(new RegExp(`^allow: ${METHODS}$`, 'im'));
    expect(last).toContain(`"msg":"This path does not take CONNECT; it takes ${METHODS}."`);
  });

  test('is counted', async () => {
    await exchange(gateway.api, 'nonsense\r\n\r\n');
    const metrics = await (await fetch(`${gateway.admin}/metrics`)).text();
    expect(metrics).toMatch(/^api_requests_total\{method="",status="400"\} [1-9]/m);
  });
});

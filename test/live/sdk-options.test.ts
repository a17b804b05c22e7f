// What the SDK of the field asks for when it opens an endpoint is what visitors meet.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies are full of them

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import { newCredential } from '../support/agents/live.ts';
import { httpName, openSdkSession, SDK_PREFIX, type SdkSession } from '../support/agents/sdk.ts';
import { listen } from '../support/events/traffic.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { type VisitOptions, visit } from '../support/visit.ts';

let gateway: TestGateway;
let account: Account;
let sdk: Awaited<ReturnType<typeof openSdkSession>>;
/** Answers with a long text, or with what `/status/<n>` asks for; says what it was sent. */
const upstream = createServer(async (request, response) => {
  const chunks = await request.toArray();
  const { headers, url = '' } = request;
  const status = Number(/^\/status\/(\d+)/.exec(url)?.[1] ?? 200);
  response.writeHead(status, { 'x-upstream': 'yes', 'content-type': 'text/plain' });
  response.end(JSON.stringify({ url, headers, body: String(Buffer.concat(chunks)), long: 'x'.repeat(500) }));
});
let upstreamUrl: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
  sdk = await openSdkSession(gateway, (await newCredential(account)).authtoken);
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  upstreamUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await sdk?.close();
  upstream.closeAllConnections();
  upstream.close();
});

type Http = ReturnType<SdkSession['httpEndpoint']>;
let names = 0;

/** Opens a name with an option, and gives what visits it. */
async function opened(option: (http: Http) => Http) {
  const name = `option-${++names}.tunnel.localhost`;
  await option(httpName(sdk.session, name)).listenAndForward(upstreamUrl);
  return (path = '/', options: VisitOptions = {}) => visit(`http://${name}${path}`, gateway.http, options);
}

const refusal = (code: number) => expect.stringContaining(`ERR_GATEWAY_${code}`);
const policy = (phase: string, type: string, config: object = {}, expressions: string[] = []) =>
  JSON.stringify({ [phase]: [{ expressions, actions: [{ type, config }] }] });

test('basicAuth asks for the password', async () => {
  const go = await opened((http) => http.basicAuth('someone', 'a password').basicAuth('another', 'another one'));
  const authorization = `Basic ${btoa('another:another one')}`;
  expect(await go()).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.stringMatching(/^Basic /) } });
  expect((await go('/', { headers: { authorization } })).status).toBe(200);
  expect((await go('/', { headers: { authorization: `Basic ${btoa('another:a password')}` } })).status).toBe(401);
});

test('allowCidr and denyCidr let in whom they say', async () => {
  const [allows, allowsOthers, denies] = [
    await opened((http) => http.allowCidr('127.0.0.0/8').allowCidr('::1/128')),
    await opened((http) => http.allowCidr('10.0.0.0/8')),
    await opened((http) => http.denyCidr('127.0.0.1/32')),
  ];
  expect((await allows()).status).toBe(200);
  for (const go of [allowsOthers, denies]) expect(await go()).toMatchObject({ status: 403, body: refusal(3205) });
});

test('headers are added and removed, of requests and of answers', async () => {
  const go = await opened((http) =>
    http
      .requestHeader('x-a', 'one: two')
      .removeRequestHeader('x-secret')
      .responseHeader('x-b', '2')
      .removeResponseHeader('x-upstream'),
  );
  const { headers, body } = await go('/', { headers: { 'x-secret': 'no', 'x-kept': 'yes' } });
  expect(headers['x-b']).toBe('2');
  expect(headers).not.toHaveProperty('x-upstream');
  expect(JSON.parse(body).headers).toMatchObject({ 'x-a': 'one: two', 'x-kept': 'yes' });
  expect(JSON.parse(body).headers).not.toHaveProperty('x-secret');
});

test('allowUserAgent and denyUserAgent look at the visitor’s program', async () => {
  const allows = await opened((http) => http.allowUserAgent('^good/'));
  const denies = await opened((http) => http.denyUserAgent('bad'));
  const as = (agent: string) => ({ headers: { 'user-agent': agent } });
  expect((await allows('/', as('good/1'))).status).toBe(200);
  expect((await denies('/', as('good/1'))).status).toBe(200);
  for (const go of [allows, denies])
    expect(await go('/', as('a bad one'))).toMatchObject({ status: 403, body: refusal(3211) });
});

test('webhookVerification lets in what its sender signed', async () => {
  const go = await opened((http) => http.webhookVerification('github', 'a secret'));
  const body = '{"a":1}';
  const signature = createHmac('sha256', 'a secret').update(body).digest('hex');
  const send = (signed: string) =>
    go('/', { method: 'POST', body, headers: { 'x-hub-signature-256': `sha256=${signed}` } });
  const let_in = await send(signature);
  expect(let_in.status).toBe(200);
  expect(JSON.parse(let_in.body).body).toBe(body);
  expect(await send(signature.replace(/./, 'z'))).toMatchObject({ status: 403, body: refusal(3204) });
});

test('circuitBreaker leaves an upstream alone that keeps failing', async () => {
  const go = await opened((http) => http.circuitBreaker(0.5));
  let last = await go('/status/500');
  for (let i = 0; i < 30 && last.status === 500; i++) last = await go('/status/500');
  expect(last).toMatchObject({ status: 503, body: refusal(3202), headers: { 'retry-after': expect.any(String) } });
});

test('compression compresses for those who like it', async () => {
  const go = await opened((http) => http.compression());
  expect((await go('/', { headers: { 'accept-encoding': 'gzip' } })).headers['content-encoding']).toBe('gzip');
  expect((await go()).headers).not.toHaveProperty('content-encoding');
});

test('websocketTcpConversion joins WebSockets to plain TCP', async () => {
  const echo = createTcpServer((socket) => socket.pipe(socket));
  const name = `option-${++names}.tunnel.localhost`;
  const builder = httpName(sdk.session, name).websocketTcpConversion();
  await builder.listenAndForward((await listen(echo)).replace('http', 'tcp'));
  const socket = new WebSocket(`ws://${gateway.http}/`, { headers: { host: name } });
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  socket.send('there and back');
  const [message] = await once(socket, 'message');
  expect(String(message)).toBe('there and back');
  expect(await visit(`http://${name}/`, gateway.http)).toMatchObject({ status: 426, body: refusal(90128) });
});

test('mutualTlsca asks for a certificate in the handshake', async () => {
  const name = `option-${++names}.tunnel.localhost`;
  await sdk.session.httpEndpoint().domain(name).mutualTlsca(Buffer.from(gateway.ca)).listenAndForward(upstreamUrl);
  await expect(visit(`https://${name}/`, gateway.https, { ca: gateway.ca })).rejects.toThrow(/certificate|ECONNRESET/);
});

describe('trafficPolicy acts:', () => {
  test.each([
    ['JSON', policy('on_http_request', 'add-headers', { headers: { 'x-a': '${req.method}' } })],
    [
      'YAML',
      'on_http_request:\n  - actions:\n      - type: add-headers\n        config: { headers: { x-a: "${req.method}" } }\n',
    ],
    [
      'the older phases',
      policy('inbound', 'add-headers', { headers: { 'x-a': '${req.method}' } }, ["req.Method == 'GET'"]),
    ],
  ])('in %s', async (_, text) => {
    const go = await opened((http) => http.trafficPolicy(text));
    expect(JSON.parse((await go()).body).headers).toMatchObject({ 'x-a': 'GET' });
  });

  test('the sample of the SDK, by its older method, too', async () => {
    const sample = {
      inbound: [
        {
          name: 'deny_put',
          expressions: ["req.Method == 'PUT'"],
          actions: [{ type: 'deny' }],
        },
      ],
      outbound: [
        {
          name: '200 response',
          expressions: ["res.StatusCode == '200'"],
          actions: [
            {
              type: 'custom-response',
              config: { status_code: 201, content: 'Custom 200 response.', content_type: 'text/html' },
            },
          ],
        },
      ],
    };
    const go = await opened((http) => http.policy(JSON.stringify(sample)));
    expect((await go('/', { method: 'PUT' })).status).toBe(403);
    expect(await go()).toMatchObject({
      status: 201,
      body: 'Custom 200 response.',
      headers: { 'content-type': 'text/html' },
    });
    expect((await go('/status/404')).status).toBe(404);
  });

  test('with the PROXY protocol, whose header comes first', async () => {
    const server = createTcpServer((socket) => {
      let head = '';
      socket.setEncoding('latin1').on('data', (piece: string) => {
        head += piece;
        if (!head.includes('\r\n\r\n')) return;
        const seen = JSON.stringify(head);
        socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${seen.length}\r\n\r\n${seen}`);
      });
    });
    const name = `option-${++names}.tunnel.localhost`;
    const adds = policy('on_http_request', 'add-headers', { headers: { 'x-a': '1' } });
    await httpName(sdk.session, name)
      .proxyProto('1')
      .trafficPolicy(adds)
      .listenAndForward(await listen(server));
    const { body } = await visit(`http://${name}/`, gateway.http);
    expect(JSON.parse(body)).toMatch(/^PROXY TCP4 127\.0\.0\.1 .*\r\nGET \/ HTTP\/1\.1\r\n/);
  });
});

describe('a value that cannot be used is refused at once, and the session goes on:', () => {
  test.each<[string, (http: Http) => Http, number, RegExp]>([
    ['a user agent that is no pattern', (http) => http.denyUserAgent('(('), 90215, /user.?agent|\(\(/i],
    ['an unknown sender of webhooks', (http) => http.webhookVerification('nobody', 'x'), 90215, /nobody/],
    ['a header that frames the message', (http) => http.requestHeader('content-length', '1'), 90215, /content-length/i],
    ['a share above 1', (http) => http.circuitBreaker(1.5), 90215, /error_threshold/],
    ['a policy that is no document', (http) => http.trafficPolicy('{"on_http_request": 1}'), 2204, /on_http_request/],
    [
      'an unknown action',
      (http) => http.trafficPolicy(policy('on_http_request', 'dance')),
      2201,
      /on_http_request\[0\]\.actions\[0\]/,
    ],
    [
      'an expression',
      (http) => http.trafficPolicy(policy('inbound', 'deny', {}, ['true', 'req.nothing'])),
      2200,
      /inbound\[0\]\.expressions\[1\]/,
    ],
  ])('%s', async (_, option, code, text) => {
    const name = `option-${++names}.tunnel.localhost`;
    const failed = await option(httpName(sdk.session, name))
      .listen()
      .catch((error) => error);
    expect(failed.errorCode).toBe(`${SDK_PREFIX}${code}`);
    expect(failed.message).toMatch(text);
    expect((await visit(`http://${name}/`, gateway.http)).status).toBe(404);
    const go = await opened((http) => http);
    expect((await go()).status).toBe(200);
  });
});

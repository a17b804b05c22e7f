// What agents ask to be done to the traffic of their tunnels: by the call itself, where no SDK puts it into words.

import { connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { StreamType } from '../../../src/protocol/index.ts';
import { newCredential } from '../../support/agents/live.ts';
import { codeOf, type RawAgent, type Reply, rawAgent } from '../../support/agents/raw-agent.ts';
import { openSdkSession } from '../../support/agents/sdk.ts';
import { listen } from '../../support/events/traffic.ts';
import { sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';

let gateway: TestGateway;
let authtoken: string;
let sdk: Awaited<ReturnType<typeof openSdkSession>>;
beforeAll(async () => {
  gateway = await sharedGateway();
  ({ authtoken } = await newCredential(await gateway.newAccount()));
  sdk = await openSdkSession(gateway, authtoken);
});
afterAll(() => sdk?.close());

let names = 0;
const newName = () => `asked-${++names}.tunnel.localhost`;
const get = (name: string) => visit(`http://${name}/`, gateway.http);

async function connected(): Promise<RawAgent> {
  const agent = await rawAgent(gateway);
  expect(await agent.auth(authtoken)).toMatchObject({ Error: '' });
  return agent;
}

const answers = (status: number) =>
  JSON.stringify({ on_http_request: [{ actions: [{ type: 'custom-response', config: { status_code: status } }] }] });
const closes = (expression?: string) =>
  JSON.stringify({
    on_tcp_connect: [{ expressions: expression ? [expression] : [], actions: [{ type: 'deny' }] }],
  });

test('a patch replaces the policy at once; an empty one takes it away; a bad one changes nothing', async () => {
  const agent = await connected();
  const name = newName();
  const { Id: id } = await agent.bind(name, {
    Opts: { Hostname: name, TrafficPolicy: answers(201), BasicAuth: undefined },
  });
  const patch = (TrafficPolicy: string) => agent.call(StreamType.PATCH_TUNNEL, { TunnelId: id, TrafficPolicy });
  expect((await get(name)).status).toBe(201);
  expect(await patch(answers(202))).toMatchObject({ Error: '' });
  expect((await get(name)).status).toBe(202);
  const bad = await patch('{"on_http_request": [{"actions": [{"type": "deny", "config": {"status_code": 7}}]}]}');
  expect(bad.Error).toContain('on_http_request[0].actions[0].config.status_code');
  expect((await get(name)).status).toBe(202);
  expect(await patch('')).toMatchObject({ Error: '' });
  expect(await get(name)).toMatchObject({ status: 200, body: id });
  expect(await agent.call(StreamType.PATCH_TUNNEL, { TunnelId: id, Metadata: 'm' })).toMatchObject({ Error: '' });
  expect((await get(name)).status).toBe(200);
});

test('a patch of the policy leaves what else the tunnel asked for', async () => {
  const agent = await connected();
  const name = newName();
  const opts = { Hostname: name, BasicAuth: { credentials: [{ username: 'a', cleartext_password: 'long enough' }] } };
  const { Id: id } = await agent.bind(name, { Opts: opts });
  await agent.call(StreamType.PATCH_TUNNEL, { TunnelId: id, TrafficPolicy: answers(201) });
  expect((await get(name)).status).toBe(401);
});

describe('what cannot be done is refused with its reason, and the session goes on:', () => {
  test.each<[string, string, object, number, RegExp]>([
    [
      'an address that is no network',
      'http',
      { IPRestriction: { allow_cidrs: ['10.0.0.0/33'] } },
      90215,
      /10\.0\.0\.0\/33/,
    ],
    ['a pattern that is none', 'http', { UserAgentFilter: { deny: ['[a'] } }, 90215, /\[a/],
    [
      'an unknown sender of webhooks',
      'http',
      { WebhookVerification: { provider: 'x', secret: 's' } },
      90215,
      /"x".*github/,
    ],
    ['no secret for webhooks', 'http', { WebhookVerification: { provider: 'github' } }, 90215, /secret/],
    [
      'a sealed secret',
      'http',
      { WebhookVerification: { provider: 'github', sealed_secret: 'eA==' } },
      90203,
      /sealed_secret/,
    ],
    ['a header with a blank in its name', 'http', { RequestHeaders: { add: ['a b: c'] } }, 90215, /a b/],
    ['a negative share', 'http', { CircuitBreaker: { error_threshold: -0.1 } }, 90215, /error_threshold/],
    [
      'a password that is hashed',
      'http',
      { BasicAuth: { credentials: [{ username: 'a', hashed_password: 'eA==' }] } },
      90203,
      /hashed/,
    ],
    ['an authority that is none', 'https', { MutualTLSCA: { mutual_tls_ca: btoa('nothing') } }, 90215, /PEM/],
    ['an authority without TLS', 'http', { MutualTLSCA: { mutual_tls_ca: '' } }, 90214, /MutualTLSCA/],
    ['a password for TCP', 'tcp', { Auth: 'a:b' }, 90213, /Auth/],
    ['compression for TLS', 'tls', { Compression: {} }, 90213, /Compression/],
    ['a phase of HTTP for TCP', 'tcp', { TrafficPolicy: answers(200) }, 2230, /on_http_request/],
    ['OAuth without an app', 'http', { OAuth: { provider: 'google' } }, 90215, /client_id is required/],
    [
      'OAuth with a secret that is sealed',
      'http',
      { OAuth: { provider: 'google', client_id: 'a', sealed_client_secret: 'eA==' } },
      90203,
      /sealed_client_secret/,
    ],
    ['OpenID Connect without an issuer', 'http', { OIDC: {} }, 90215, /issuer_url/],
    ['OpenID Connect for TCP', 'tcp', { OIDC: { issuer_url: 'https://id.example.com' } }, 90213, /OIDC/],
    ['SAML', 'http', { SAML: {} }, 90203, /SAML/],
  ])('%s', async (_, Proto, options, code, text) => {
    const agent = await connected();
    const name = newName();
    const refused: Reply = await agent.bind(name, {
      Proto,
      Opts: { ...(Proto !== 'tcp' && { Hostname: name }), ...options },
    });
    expect(refused.Error).toMatch(text);
    expect(codeOf(refused)).toBe(code);
    expect(await agent.bind(name)).toMatchObject({ Error: '' });
  });
});

/** What is said to a TCP endpoint, back; '' when it is closed before. */
async function sayTo(url: string | null, text: string): Promise<string> {
  const visitor = connectTcp(Number(new URL(String(url)).port), '127.0.0.1');
  visitor.end(text);
  return heard(visitor);
}

async function heard(socket: Socket): Promise<string> {
  let got = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    got += chunk;
  });
  await closed(socket);
  return got;
}

/** However it ends. */
const closed = (socket: Socket) => new Promise((resolve) => socket.on('error', () => {}).on('close', resolve));

/** A TCP server that says what it hears, and counts who came. */
async function echoServer() {
  let visitors = 0;
  const server = createTcpServer((socket) => {
    visitors++;
    socket.pipe(socket);
  });
  return { url: (await listen(server)).replace('http', 'tcp'), visitors: () => visitors };
}

describe('on TCP, who is not let in is closed before a byte comes to the agent:', () => {
  type Tcp = ReturnType<typeof sdk.session.tcpEndpoint>;
  test.each<[string, (tcp: Tcp) => Tcp, boolean]>([
    ['an address that is allowed', (tcp) => tcp.allowCidr('127.0.0.0/8'), true],
    ['an address that is not allowed', (tcp) => tcp.allowCidr('10.0.0.0/8'), false],
    ['an address that is denied', (tcp) => tcp.denyCidr('127.0.0.1/32'), false],
    ['a policy that denies everybody', (tcp) => tcp.trafficPolicy(closes()), false],
    ['a policy that denies others', (tcp) => tcp.trafficPolicy(closes("conn.client_ip != '127.0.0.1'")), true],
    [
      'a policy by the older name of its phase',
      (tcp) => tcp.policy(closes().replace('on_tcp_connect', 'inbound')),
      false,
    ],
  ])('%s', async (_, option, isLetIn) => {
    const echo = await echoServer();
    const listener = await option(sdk.session.tcpEndpoint()).listenAndForward(echo.url);
    onTestFinished(() => listener.close());
    expect(await sayTo(listener.url(), 'hello')).toBe(isLetIn ? 'hello' : '');
    expect(echo.visitors()).toBe(isLetIn ? 1 : 0);
  });
});

describe('on TLS, likewise:', () => {
  type Tls = ReturnType<typeof sdk.session.tlsEndpoint>;
  test.each<[string, (tls: Tls) => Tls, boolean]>([
    ['an address that is allowed', (tls) => tls.allowCidr('127.0.0.0/8'), true],
    ['an address that is denied', (tls) => tls.denyCidr('127.0.0.0/8'), false],
    ['a policy that denies everybody', (tls) => tls.trafficPolicy(closes()), false],
  ])('%s', async (_, option, isLetIn) => {
    const echo = await echoServer();
    const name = newName();
    const listener = await option(sdk.session.tlsEndpoint().domain(name)).listenAndForward(echo.url);
    onTestFinished(() => listener.close());
    const [host, port] = gateway.https.split(':');
    // Its own first message, coming back, ends the handshake.
    const visitor = connectTls({ host, port: Number(port), servername: name, rejectUnauthorized: false });
    await closed(visitor);
    expect(echo.visitors()).toBe(isLetIn ? 1 : 0);
  });
});

test('a tunnel that asks for nothing has nothing done to it', async () => {
  const agent = await connected();
  const name = newName();
  const { Id: id, Error: error } = await agent.bind(name, {
    Opts: { Hostname: name, Auth: '', TrafficPolicy: '', BasicAuth: null },
  });
  expect(error).toBe('');
  expect((await get(name)).body).toBe(id);
});

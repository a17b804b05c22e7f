// The agent's local API without a gateway: responses, and mistakes in requests.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendRaw } from '../../support/gateway/http.ts';
import { type LocalAgent, newDirectory, startLocal } from '../agents.ts';

const places = [newDirectory(), newDirectory()] as const;
let open: LocalAgent;
let guarded: LocalAgent;
const TOKEN = 'a-token-of-the-tests';

beforeAll(async () => {
  open = await startLocal(places[0].path, {});
  guarded = await startLocal(places[1].path, { AGENT_API_TOKEN: TOKEN, AGENT_DOMAIN: 'agent.example.com' });
});
afterAll(async () => {
  await Promise.all([open.close(), guarded.close()]);
  for (const { remove } of places) remove();
});

describe('the list of tunnels', () => {
  test('is empty at first, and HEAD gives its headers alone', async () => {
    expect(await open.ask('GET', '/tunnels')).toMatchObject({ status: 200, text: '[]', body: [] });
    expect(await open.ask('HEAD', '/tunnels')).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-length': '2' },
    });
    expect(await open.ask('GET', '/tunnels?verbose=1')).toMatchObject({ status: 200, body: [] });
  });
});

describe('what is not there', () => {
  test.each([
    ['GET', '/', 404, 'Not Found'],
    ['GET', '/tunnels/', 404, 'Not Found'],
    ['GET', '/Tunnels', 404, 'Not Found'],
    ['GET', '/tunnels/a/b', 404, 'Not Found'],
    ['GET', '/docs', 404, 'Not Found'],
    ['GET', '/tunnels/abc', 404, 'Tunnel not found'],
    ['DELETE', '/tunnels/abc', 404, 'Tunnel not found'],
    ['DELETE', '/tunnels/%zz', 400, 'The path must be percent-encoded UTF-8.'],
  ])('%s %s', async (method, path, status, text) => {
    expect(await open.ask(method, path)).toMatchObject({ status, body: { detail: text } });
  });

  test.each([
    ['PUT', '/tunnels', 'GET, HEAD, POST'],
    ['DELETE', '/tunnels', 'GET, HEAD, POST'],
    ['POST', '/tunnels/abc', 'GET, HEAD, DELETE'],
    ['OPTIONS', '/tunnels', 'GET, HEAD, POST'],
    ['POST', '/status', 'GET, HEAD'],
  ])('%s %s, with the methods that are', async (method, path, allow) => {
    expect(await open.ask(method, path)).toMatchObject({
      status: 405,
      body: { detail: 'Method Not Allowed' },
      headers: { allow },
    });
  });
});

describe('a request for a tunnel that is wrong is told what would be right:', () => {
  const to = { forwards_to: 'localhost:3000' };
  test.each<[string, unknown, RegExp]>([
    ['no object', [], /The body must be a JSON object/],
    ['no JSON', '{"protocol": ', /The body must be JSON in UTF-8/],
    ['nothing', {}, /forwards_to must be a text: host:port/],
    ['a port alone', { forwards_to: '3000' }, /forwards_to must be host:port/],
    ['a number', { forwards_to: 3000 }, /forwards_to must be a text/],
    ['a path', { forwards_to: 'http://localhost:3000/app' }, /forwards_to must be host:port/],
    ['a port that is none', { forwards_to: 'localhost:70000' }, /forwards_to must be host:port/],
    ['another protocol', { ...to, protocol: 'udp' }, /protocol must be one of http, https, tcp, tls/],
    ['a domain with a scheme', { ...to, domain: 'https://a.example.com' }, /domain must be a full name/],
    ['a domain with a port', { ...to, domain: 'a.example.com:80' }, /domain must be a full name/],
    ['a domain of one label', { ...to, domain: 'a' }, /domain must be a full name/],
    ['a domain that is a number', { ...to, domain: 7 }, /domain must be a text/],
    [
      'a name for tcp',
      { ...to, protocol: 'tcp', domain: 'a.example.com' },
      /domain must be host:port or :port for tcp/,
    ],
    [
      'an unknown member',
      { ...to, name: 'x' },
      /there is no member "name" here; known are: protocol, forwards_to, domain, policy/,
    ],
    ['a policy in a text', { ...to, policy: '{}' }, /policy must be an object/],
    [
      'a policy with a mistake',
      { ...to, policy: { inbound: [{ name: 'x' }] } },
      /policy\.inbound\[0\]\.actions must have/,
    ],
    [
      'rules of HTTP on tcp',
      { ...to, protocol: 'tcp', policy: { outbound: [{ actions: [{ type: 'deny' }] }] } },
      /policy\.outbound is a phase of HTTP/,
    ],
    [
      'a host that does not exist',
      { forwards_to: 'nowhere.invalid:80' },
      /forwards_to names a host that cannot be resolved/,
    ],
  ])('%s', async (_, body, text) => {
    const { status, body: answer } = await open.ask('POST', '/tunnels', body);
    expect({ status, answer }).toEqual({ status: 400, answer: { detail: expect.stringMatching(text) } });
  });

  test('all mistakes at once', async () => {
    const { body } = await open.ask('POST', '/tunnels', { protocol: 'udp', forwards_to: 1, domain: '-', x: 1 });
    expect(body.detail).toMatch(/"x".*protocol must.*forwards_to must.*domain must/);
  });

  test.each([['169.254.169.254:80'], ['192.168.1.5:80'], ['[fe80::1]:80'], ['https://10.0.0.1']])(
    'a place that AGENT_FORWARDS_TO does not allow is refused: %s',
    async (forwards_to) => {
      expect(await open.ask('POST', '/tunnels', { forwards_to })).toMatchObject({
        status: 403,
        body: { detail: expect.stringContaining('AGENT_FORWARDS_TO allows: localhost, 127.0.0.0/8, ::1/128') },
      });
    },
  );

  test('a body of another type, or of none', async () => {
    const body = JSON.stringify(to);
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '']) {
      const answer = await open.ask('POST', '/tunnels', body, { 'content-type': type });
      expect(answer).toMatchObject({ status: 415, body: { detail: expect.stringContaining('application/json') } });
    }
  });

  test('a body that is too long, also one that does not say how long it is', async () => {
    const body = JSON.stringify({ forwards_to: 'x'.repeat(1024 * 1024) });
    const tooLong = { status: 413, body: { detail: 'The body must have at most 1048576 bytes.' } };
    expect(await open.ask('POST', '/tunnels', body)).toMatchObject(tooLong);
    expect(await open.ask('POST', '/tunnels', body, { 'transfer-encoding': 'chunked' })).toMatchObject(tooLong);
  });

  test('a body that is not UTF-8', async () => {
    const head = 'POST /tunnels HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n';
    const body = Buffer.concat([Buffer.from('{"forwards_to":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const bytes = Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
    expect(await sendRaw(open.api, bytes)).toMatch(/^HTTP\/1\.1 400 [\s\S]*must be JSON in UTF-8/);
  });

  test('what is no HTTP at all', async () => {
    expect(await sendRaw(open.api, 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*\{"detail":/);
  });
});

describe('without a gateway', () => {
  test('/healthz says that the process lives, /readyz why it is not ready, /status everything', async () => {
    expect(await open.ask('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await open.ask('GET', '/readyz')).toMatchObject({
      status: 503,
      body: { ready: false, reasons: ['there is no session with the gateway'] },
    });
    const { body } = await open.ask('GET', '/status');
    expect(body).toMatchObject({
      ready: false,
      gateway: '127.0.0.1:1',
      session: { sessions: 0, latency_ms: null },
      tunnels: [],
      api: null,
      state_file: { damage: null },
    });
    expect(Date.parse(body.started_at)).not.toBeNaN();
  });

  test('/metrics are in the format of Prometheus', async () => {
    const { status, headers, text } = await open.ask('GET', '/metrics');
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 200,
      type: expect.stringContaining('version=0.0.4'),
    });
    expect(text).toMatch(/^agent_session_up 0$/m);
    expect(text).toMatch(/^agent_api_answers_total\{status="200"\} \d+$/m);
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/);
  });
});

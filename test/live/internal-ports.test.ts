// Internal endpoints whose names have ports, as the Kubernetes operator opens them for each service: each is an endpoint of its own, and
// `forward-internal` leads to the one that it names.

import { connect } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { newCredential } from '../support/agents/live.ts';
import { codeOf, type RawAgent, type Reply, rawAgent } from '../support/agents/raw-agent.ts';
import { type Account, sharedGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

let gateway: TestGateway;
let account: Account;
beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.newAccount();
});

async function agentOf(more: object = {}): Promise<RawAgent> {
  const agent = await rawAgent(gateway);
  expect((await agent.auth((await newCredential(account, more)).authtoken)).Error).toBe('');
  return agent;
}

let names = 0;
const newName = (suffix: string) => `ports-${++names}.${suffix}`;

/** Binds an internal URL, whose requests are answered with the id of its tunnel. */
async function internal(agent: RawAgent, url: string, more: object = {}): Promise<Reply> {
  const Proto = url.replace(/:.*/, '');
  return agent.bind('', { Proto, Opts: { URL: url }, Extra: { Bindings: ['internal'], ...more } });
}

const policyOf = (phase: string, url: string, type = 'forward-internal') =>
  JSON.stringify({ [phase]: [{ actions: [{ type, config: { url } }] }] });

/** What is answered at a public endpoint whose policy forwards its requests. */
async function forwarded(agent: RawAgent, url: string) {
  const name = newName('tunnel.localhost');
  const opts = { Hostname: name, TrafficPolicy: policyOf('on_http_request', url) };
  expect((await agent.bind('', { Opts: opts })).Error).toBe('');
  return visit(`http://${name}`, gateway.http);
}

/** What is answered at a port of the gateway whose policy forwards its connections. */
async function connected(agent: RawAgent, url: string): Promise<string> {
  const opts = { Addr: '', TrafficPolicy: policyOf('on_tcp_connect', url) };
  const { Error: text, URL: at } = await agent.bind('', { Proto: 'tcp', Opts: opts });
  expect(text).toBe('');
  const socket = connect(Number(new URL(at).port), '127.0.0.1');
  let got = '';
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\n\r\n');
  for await (const chunk of socket) {
    got += chunk;
    if (/\r\n\r\n.+/s.test(got)) break;
  }
  return got.split('\r\n\r\n')[1] ?? '';
}

test.each(['http', 'https'])('each port of a name is an endpoint of its own: %s', async (scheme) => {
  const agent = await agentOf();
  const name = newName('default.internal');
  const urls = ['', ':8080', ':8443'].map((port) => `${scheme}://${name}${port}`);
  const bound = await Promise.all(urls.map((url) => internal(agent, url)));
  expect(bound.map(({ Error: text, URL: url }) => text || url)).toEqual(urls);
  for (const [i, url] of urls.entries())
    expect(await forwarded(agent, `${url}/path`)).toMatchObject({ status: 200, body: bound[i]?.Id });
  expect(await forwarded(agent, `${scheme}://${name}:${scheme === 'http' ? 80 : 443}`)).toMatchObject({
    body: bound[0]?.Id,
  });
  expect((await forwarded(agent, `${scheme}://${name}:9999`)).body).toContain('ERR_GATEWAY_90132');
});

test.each(['tcp', 'tls'])('connections are forwarded to a name with a port: %s', async (scheme) => {
  const agent = await agentOf();
  const name = newName('internal');
  const [first, second] = [`${scheme}://${name}:5432`, `${scheme}://${name}:5433`];
  const bound = [await internal(agent, first), await internal(agent, second)];
  expect(bound.map(({ Error: text, URL: url }) => text || url)).toEqual([first, second]);
  expect(await connected(agent, second)).toBe(bound[1]?.Id);
  expect(await connected(agent, first)).toBe(bound[0]?.Id);
  // No port of the gateway leads there.
  const { Id: id } = bound[0] as Reply;
  const served = (await account.call('GET', `/tunnels/${id}`)).body.endpoint.id;
  expect((await account.call('GET', `/endpoints/${served}`)).body).toMatchObject({
    hostport: `${name}:5432`,
    tcp_addr: null,
  });
  const shown = await account.call('GET', `/endpoints/${served}`, undefined, { dialect: 'extended' });
  expect(shown.body).toMatchObject({ url: first, host: name, port: 5432, scheme, bindings: ['internal'] });
  expect(await gateway.app.prisma.claim.count({ where: { address: { in: ['tcp:5432', 'tcp:5433'] } } })).toBe(0);
});

test('what a policy asks may have a port, too', async () => {
  const agent = await agentOf();
  const url = `http://${newName('internal')}:3000`;
  const { Id: id } = await internal(agent, url);
  const policy = JSON.stringify({
    on_http_request: [
      {
        actions: [
          { type: 'http-request', config: { url: `${url}/asked` } },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of a policy
          { type: 'custom-response', config: { content: '${actions.http_request.res.body}' } },
        ],
      },
    ],
  });
  const name = newName('tunnel.localhost');
  expect((await agent.bind('', { Opts: { Hostname: name, TrafficPolicy: policy } })).Error).toBe('');
  expect(await visit(`http://${name}`, gateway.http)).toMatchObject({ status: 200, body: id });
});

test('a name with a port is allowed by a rule for the name, and used by one agent at a time', async () => {
  const name = newName('internal');
  const [limited, other] = [await agentOf({ acl: [`bind:${name}`] }), await agentOf()];
  for (const url of [`tcp://${name}:22`, `https://${name}:8443`]) {
    expect((await internal(limited, url)).Error).toBe('');
    expect(codeOf(await internal(other, url))).toBe(334);
  }
  expect(codeOf(await internal(limited, `tcp://other-${name}:22`))).toBe(316);
  const [first, second] = await Promise.all(
    [1, 2].map(() => internal(other, `tcp://${name}:23`, { PoolingEnabled: true })),
  );
  expect([first?.Error, second?.Error]).toEqual(['', '']);
});

test.each([
  ['tcp://a.internal', 90218],
  ['tcp://a.internal:0', 90218],
  ['tcp://a.internal:65536', 90218],
  ['http://a.internal:0', 90218],
  ['https://a.internal:99999', 90218],
  ['https://a b.internal:8443', 326],
])('%s is refused: %i', async (url, code) => {
  expect(codeOf(await internal(await agentOf(), url))).toBe(code);
});

test.each([
  ['on_http_request', 'tcp://a.internal:22'],
  ['on_http_request', 'https://a.internal:99999'],
  ['on_http_request', 'https://a.example.com'],
])('a policy of %s cannot name %s', async (phase, url) => {
  const agent = await agentOf();
  const opts = { Hostname: newName('tunnel.localhost'), TrafficPolicy: policyOf(phase, url) };
  expect(codeOf(await agent.bind('', { Opts: opts }))).toBe(2226);
});

test.each(['tls://a.internal:0', 'tcp://a.internal', 'http://a.internal:80'])(
  'a policy of connections cannot name %s',
  async (url) => {
    const opts = { Addr: '', TrafficPolicy: policyOf('on_tcp_connect', url) };
    expect(codeOf(await (await agentOf()).bind('', { Proto: 'tcp', Opts: opts }))).toBe(2226);
  },
);

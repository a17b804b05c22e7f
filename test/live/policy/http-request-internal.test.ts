// What a policy asks internal endpoints: they are reached over their tunnels, as their visitors come there, and by nobody else.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of policies look like that

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sdkSession } from '../../support/agents/sdk.ts';
import { startUpstream } from '../../support/events/traffic.ts';
import { eventually } from '../../support/eventually.ts';
import { visit } from '../../support/visit.ts';
import { type HandledLab, onRequest, portOf, startLab } from '../pipeline/lab.ts';

/** Two accounts of one gateway, at which policies may ask everything (POLICY_FETCH=any). */
let ours: HandledLab;
let theirs: HandledLab;
beforeAll(async () => {
  ours = await startLab();
  theirs = await startLab();
});
afterAll(async () => {
  await ours?.close();
  await theirs?.close();
});

let names = 0;
const newName = () => `asked${++names}.internal`;

/** Serves an upstream under an internal name. It says what it was asked, and by whom. @returns the name. */
async function internal(
  lab: HandledLab,
  policy: object | null = null,
  options: Parameters<HandledLab['open']>[2] = {},
) {
  const { url } = await startUpstream(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { host, 'x-forwarded-for': from, 'x-inner': inner = '-' } = request.headers;
    response.end([request.method, host, request.url, from, inner, body].join(' '));
  });
  return lab.open(portOf(url), policy, { domain: newName(), ...options });
}

/** A policy that asks, and answers with a text in which `…` is the result of that. */
const asking = (config: object, shown = '${….res.status_code} ${….res.body}') => ({
  on_http_request: [
    {
      actions: [
        { type: 'http-request', config },
        { type: 'custom-response', config: { content: shown.replaceAll('…', 'actions.http_request') } },
      ],
    },
  ],
});
const ERROR = '${….error.code} ${….error.message}';

/** Opens an endpoint with a policy that asks, and visits it. */
async function ask(config: object, shown?: string, lab = ours) {
  const name = await lab.open(1, asking(config, shown));
  return visit(`http://${name}/`, lab.gateway.http);
}

test('it is asked over its tunnel, for the visitor, under http and under https', async () => {
  const plain = await internal(ours);
  const secure = await internal(ours, null, { protocol: 'https' });
  const config = { method: 'POST', body: 'hello', query_params: [{ key: 'a', value: '1' }] };
  const shown = '${….res.body}${….attempts[0].resolved_ip}';
  expect((await ask({ url: `http://${plain}/x`, ...config }, shown)).body).toBe(
    `POST ${plain} /x?a=1 127.0.0.1 - hello`,
  );
  expect((await ask({ url: `https://${secure}./y`, ...config })).body).toBe(
    `200 POST ${secure}. /y?a=1 127.0.0.1 - hello`,
  );
});

test('its own rules run: what they change is changed, and whom they refuse is refused', async () => {
  const marks = await internal(ours, onRequest('add-headers', { headers: { 'x-inner': 'yes' } }));
  expect((await ask({ url: `http://${marks}/` })).body).toMatch(/^200 GET \S+ \/ \S+ yes/);
  const denies = await internal(ours, onRequest('deny', { status_code: 403 }));
  expect((await ask({ url: `http://${denies}/` })).body).toMatch(/^403 /);
  const visitors = await internal(ours, onRequest('restrict-ips', { deny: ['127.0.0.1/32'] }));
  expect((await ask({ url: `http://${visitors}/` })).body).toMatch(/^403 /);
  const closes = await internal(ours, { on_tcp_connect: [{ actions: [{ type: 'close-connection' }] }] });
  expect((await ask({ url: `http://${closes}/` }, ERROR)).body).toMatch(/^ERR_GATEWAY_90134 \S+ did not answer: /);
  const { authtoken } = await newCredential(ours.account);
  const session = await sdkSession(ours.gateway, authtoken);
  const certified = newName();
  const wants = session.httpEndpoint().domain(certified).binding('internal').mutualTlsca(Buffer.from(ours.gateway.ca));
  await wants.listenAndForward('http://127.0.0.1:1');
  expect((await ask({ url: `https://${certified}/` }, ERROR)).body).toBe(
    `ERR_GATEWAY_90134 https://${certified} requires a client certificate, and a policy has none`,
  );
});

test('each account asks its own, and is told where it has none', async () => {
  const domain = newName();
  await internal(ours, onRequest('add-headers', { headers: { 'x-inner': 'ours' } }), { domain });
  await internal(theirs, onRequest('add-headers', { headers: { 'x-inner': 'theirs' } }), { domain });
  expect((await ask({ url: `http://${domain}/` })).body).toContain(' ours ');
  expect((await ask({ url: `http://${domain}/` }, undefined, theirs)).body).toContain(' theirs ');
  const only = await internal(ours);
  const message = `ERR_GATEWAY_90132 there is no internal endpoint http://${only} online`;
  expect((await ask({ url: `http://${only}/` }, ERROR, theirs)).body).toBe(message);
  const halted = await ask({ url: `https://${only}/`, on_error: 'halt' });
  expect(halted).toMatchObject({ status: 502, body: expect.stringContaining('ERR_GATEWAY_90132') });
});

test('no other server’s redirect leads there; its own do', async () => {
  const to = newName();
  const asked: string[] = [];
  const { url } = await startUpstream((request, response) => {
    asked.push(`${request.headers.host}${request.url}`);
    if (request.url === '/there') return void response.end('there');
    response.writeHead(302, { location: request.url === '/own' ? '/there' : `http://${to}/there` }).end();
  });
  await ours.open(portOf(url), null, { domain: to });
  expect((await ask({ url: `http://${to}/own` })).body).toBe('200 there');
  const other = await ours.open(portOf(url), null, { domain: newName() });
  for (const from of [url, `http://${other}`]) {
    asked.length = 0;
    expect((await ask({ url: `${from}/away` }, ERROR)).body).toBe(
      `ERR_GATEWAY_90134 ${new URL(from).host} redirects to the internal endpoint ${to}, which it may not`,
    );
    expect(asked).toEqual([`${new URL(from).host}/away`]);
  }
});

test('limits are those of other servers: the size of a body, the time, and policies that ask in a circle', async () => {
  const { url } = await startUpstream((request, response) => {
    if (request.url === '/large') response.end(Buffer.alloc(256 * 1024 + 1));
    if (request.url === '/most') response.end(Buffer.alloc(256 * 1024, 'x'));
  });
  const name = await ours.open(portOf(url), null, { domain: newName() });
  expect((await ask({ url: `http://${name}/most` }, '${….res.body.size()}')).body).toBe(String(256 * 1024));
  expect((await ask({ url: `http://${name}/large` }, ERROR)).body).toMatch(/more than 262144 bytes/);
  expect((await ask({ url: `http://${name}/never`, timeout: '1s' }, ERROR)).body).toMatch(/^ERR_GATEWAY_90135 /);
  const circle = newName();
  await ours.open(1, asking({ url: `http://${circle}/` }, `<\${has(….res) ? ….res.body : ….error.message}>`), {
    domain: circle,
  });
  expect((await ask({ url: `http://${circle}/` })).body).toBe('200 <<<policies ask one another in a circle>>>');
});

test('a visitor who leaves cancels it', { timeout: 20_000 }, async () => {
  let isAsked = (_response: ServerResponse) => {};
  const asked = new Promise<ServerResponse>((resolve) => {
    isAsked = resolve;
  });
  const { url } = await startUpstream((_, response) => isAsked(response));
  const name = await ours.open(portOf(url), null, { domain: newName() });
  const outer = await ours.open(1, asking({ url: `http://${name}/`, timeout: '30s' }));
  const [host = '', port] = ours.gateway.http.split(':');
  const visitor = connect(Number(port), host).on('error', () => {});
  await once(visitor, 'connect');
  visitor.write(`GET / HTTP/1.1\r\nHost: ${outer}\r\n\r\n`);
  const response = await asked;
  visitor.resetAndDestroy();
  await once(response, 'close'); // By itself it would be given up after 30 s.
});

test('it counts as traffic of the internal endpoint', async () => {
  const name = await internal(ours);
  for (let i = 0; i < 3; i++) await ask({ url: `http://${name}/` });
  const requests = async () => {
    const { body } = await ours.account.graphql(
      '{ endpoints { nodes { hostport traffic { requests openConnections } } } }',
    );
    return body.data.endpoints.nodes.find(({ hostport }: { hostport: string }) => hostport === `${name}:80`).traffic;
  };
  await eventually(async () => expect(await requests()).toEqual({ requests: 3, openConnections: 0 }));
});

test('a trial run says what it would ask, and asks nothing', async () => {
  let asked = 0;
  const { url } = await startUpstream((_, response) => void response.end(String(++asked)));
  const name = await ours.open(portOf(url), null, { domain: newName() });
  const { body } = await ours.account.graphql(
    `query ($policy: String!) { evaluatePolicy(policy: $policy, request: { url: "https://app.example.com/" }) {
      problems { message } rules { actions { type result } } outcome { kind } } }`,
    { policy: JSON.stringify(asking({ url: `http://${name}/x`, on_error: 'halt' }, ERROR)) },
  );
  expect(body.errors).toBeUndefined();
  const { rules, outcome } = body.data.evaluatePolicy;
  expect(rules[0].actions[0].result).toMatchObject({
    req: { method: 'GET', url: `http://${name}/x` },
    error: { message: `a trial run asks no internal endpoint: it would send GET http://${name}/x` },
  });
  expect(outcome.kind).toBe('ANSWERED');
  expect(asked).toBe(0);
});

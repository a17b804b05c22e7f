// Endpoints without a public address: only traffic policies of their own account lead to them.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policies are full of them

import { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newCredential } from '../support/agents/live.ts';
import { sdkSession } from '../support/agents/sdk.ts';
import { startUpstream } from '../support/events/traffic.ts';
import { type Identity, newIssuer } from '../support/issuer.ts';
import { type Visit, visit } from '../support/visit.ts';
import { type HandledLab, http2Session, onRequest, onResponse, portOf, startLab } from './pipeline/lab.ts';

/** Two accounts of one gateway. */
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

const forward = (url: string, more: object = {}) => onRequest('forward-internal', { url, ...more });
const go = (host: string, headers = {}, agent?: Agent): Promise<Visit> =>
  visit(`http://${host}/path`, ours.gateway.http, { headers, ...(agent && { agent }) });

/** An upstream that says its name, and which Host and `x-inner` it was asked with. */
async function named(name: string): Promise<number> {
  const { url } = await startUpstream((request, response) => {
    response.end(`${name} ${request.headers.host} ${request.url} ${request.headers['x-inner'] ?? '-'}`);
  });
  return portOf(url);
}

let names = 0;
/** Serves an upstream under an internal name. @returns the name. */
async function internal(lab: HandledLab, name: string, policy: object | null = null, domain = `i${++names}.internal`) {
  return lab.open(await named(name), policy, { domain });
}

test('it is reached by a policy’s forward-internal; its own policy runs too, and Host stays what the visitor asked for', async () => {
  const inner = await internal(ours, 'inner', {
    ...onRequest('add-headers', { headers: { 'x-inner': 'yes' } }),
    ...onResponse('add-headers', { headers: { 'x-of-inner': 'yes' } }),
  });
  const outer = await ours.open(await named('outer'), {
    ...forward(`http://${inner}`),
    ...onResponse('add-headers', { headers: { 'x-of-outer': 'yes' } }),
  });
  expect(await go(outer)).toMatchObject({
    status: 200,
    body: `inner ${outer} /path yes`,
    headers: { 'x-of-inner': 'yes', 'x-of-outer': 'yes' },
  });
});

test('no Host and no SNI of a visitor leads there', async () => {
  const domain = await internal(ours, 'inner');
  const secure = await ours.open(await named('inner'), null, { protocol: 'https', domain: 'secure.internal' });
  expect(await go(domain)).toMatchObject({ status: 404, body: expect.stringContaining('ERR_GATEWAY_3200') });
  const { https, ca } = ours.gateway;
  const other = await ours.open(await named('other'), null, { protocol: 'https' });
  await expect(visit(`https://${secure}/`, https, { ca, headers: { host: secure } })).rejects.toThrow();
  const within = await visit(`https://${other}/`, https, { ca, headers: { host: secure } });
  expect([404, 421]).toContain(within.status);
});

test('what an endpoint refuses, it refuses whoever forwards to it', async () => {
  const inner = await internal(ours, 'inner', onRequest('deny', { status_code: 403 }));
  const outer = await ours.open(await named('outer'), forward(`http://${inner}`));
  expect((await go(outer)).status).toBe(403);
});

test('what an endpoint refuses when they connect, it refuses those who are forwarded', async () => {
  const closes = { on_tcp_connect: [{ actions: [{ type: 'close-connection' }] }] };
  const inner = await internal(ours, 'inner', closes);
  const outer = await ours.open(await named('outer'), forward(`http://${inner}`));
  await expect(go(outer)).rejects.toThrow();
});

test('each account has its own names: the same one is there twice, and nobody comes to the other’s', async () => {
  const domain = `shared${++names}.internal`;
  await internal(ours, 'ours', null, domain);
  await internal(theirs, 'theirs', null, domain);
  const ourDoor = await ours.open(1, forward(`http://${domain}`));
  const theirDoor = await theirs.open(1, forward(`http://${domain}`));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  // On one connection, so that no stream to the one is taken for one to the other.
  for (let i = 0; i < 2; i++) {
    expect((await go(ourDoor, {}, agent)).body).toBe(`ours ${ourDoor} /path -`);
    expect((await go(theirDoor, {}, agent)).body).toBe(`theirs ${theirDoor} /path -`);
  }
  agent.destroy();
  const only = await internal(ours, 'ours');
  expect(await go(await theirs.open(1, forward(`http://${only}`)))).toMatchObject({
    status: 502,
    body: expect.stringContaining('ERR_GATEWAY_90132'),
  });
});

test('http and https of the same internal name are two endpoints', async () => {
  const domain = `both${++names}.internal`;
  await internal(ours, 'plain', null, domain);
  await ours.open(await named('secure'), null, { protocol: 'https', domain });
  const door = await ours.open(1, {
    on_http_request: [
      {
        expressions: ["req.headers['x-to'].exists(x, x == 's')"],
        actions: [{ type: 'forward-internal', config: { url: `https://${domain}` } }],
      },
      { actions: [{ type: 'forward-internal', config: { url: `http://${domain}` } }] },
    ],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const to of ['s', 'p', 's'])
    expect((await go(door, { 'x-to': to }, agent)).body).toMatch(to === 's' ? /^secure/ : /^plain/);
  agent.destroy();
});

test('where it is not online, the visitor is told; with on_error continue, the next action has its turn', async () => {
  const halts = await ours.open(await named('outer'), forward('http://nobody.internal'));
  expect(await go(halts)).toMatchObject({ status: 502, body: expect.stringContaining('ERR_GATEWAY_90132') });
  const goesOn = await ours.open(await named('outer'), {
    on_http_request: [
      {
        actions: [
          { type: 'forward-internal', config: { url: 'http://nobody.internal', on_error: 'continue' } },
          { type: 'add-headers', config: { headers: { 'x-inner': '${actions.forward_internal.error.code}' } } },
        ],
      },
    ],
  });
  expect((await go(goesOn)).body).toBe(`outer ${goesOn} /path ERR_GATEWAY_90132`);
});

test('two that forward to one another end with an error', async () => {
  const [one, two] = [`one${++names}.internal`, `two${names}.internal`];
  await internal(ours, 'one', forward(`http://${two}`), one);
  await internal(ours, 'two', forward(`http://${one}`), two);
  const outer = await ours.open(1, forward(`http://${one}`));
  expect(await go(outer)).toMatchObject({ status: 500, body: expect.stringContaining('ERR_GATEWAY_2238') });
});

test('one with mutual TLS is reached only from where visitors are asked for the same certificates', async () => {
  const authority = await newIssuer('CN=Doors');
  const mutualTlsca = Buffer.from(authority.cert);
  const { authtoken } = await newCredential(ours.account);
  const session = await sdkSession(ours.gateway, authtoken);
  const upstream = `http://127.0.0.1:${await named('inner')}`;
  const [inner, proven] = [`m${++names}.internal`, `m${names}.tunnel.localhost`];
  await session.httpEndpoint().domain(inner).binding('internal').mutualTlsca(mutualTlsca).listenAndForward(upstream);
  const policy = JSON.stringify(forward(`https://${inner}`));
  await session.httpEndpoint().domain(proven).mutualTlsca(mutualTlsca).trafficPolicy(policy).listenAndForward(upstream);
  const open = await ours.open(1, forward(`https://${inner}`), { protocol: 'https' });
  const come = (name: string, identity?: Identity) =>
    visit(`https://${name}/path`, ours.gateway.https, { ca: ours.gateway.ca, agent: new HttpsAgent({ ...identity }) });
  expect(await come(open)).toMatchObject({ status: 500, body: expect.stringContaining('ERR_GATEWAY_2238') });
  expect(await come(proven, await authority.issue())).toMatchObject({ status: 200, body: `inner ${proven} /path -` });
});

test('over HTTP/2 it is reached as well', async () => {
  const inner = await internal(ours, 'inner');
  const door = await ours.open(1, forward(`http://${inner}`), { protocol: 'https' });
  const stream = http2Session(ours.gateway, door).request({ ':path': '/x' });
  let body = '';
  for await (const chunk of stream.setEncoding('utf8')) body += chunk;
  expect(body).toMatch(/^inner \S+ \/x -$/);
});

test('the API lists it', async () => {
  const name = await internal(ours, 'inner');
  const { body } = await ours.account.call('GET', '/endpoints');
  const listed = body.endpoints.find(({ public_url: url }: { public_url: string }) => url === `http://${name}`);
  expect(listed).toMatchObject({ proto: 'http', hostport: `${name}:80` });
});

// What the agent's log says when a service refuses the name of its endpoint, and when it refuses something else.

import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { sharedGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { visit } from '../../support/visit.ts';
import { listen } from './peer.ts';
import { newClient, PATIENT, type TestClient } from './support.ts';

const page = (text: string) => `<!DOCTYPE html>\n<html><body><header><h1>${text}</h1></header></body></html>`;
const djangoPage = (title: string) => `<!DOCTYPE html>\n<html lang="en"><head>\n<title>${title}\n at /</title>`;

type Answers = (response: ServerResponse, name: string) => void;
const answering =
  (status: number, body: (name: string) => string, headers = {}): Answers =>
  (response, name) =>
    response.writeHead(status, headers).end(body(name));

/** As these programs answer: see their host checks. */
const refusals: Record<string, Answers> = {
  Vite: answering(
    403,
    (name) => `Blocked request. This host ("${name}") is not allowed.\nTo allow this host, add it.`,
    {
      'content-type': 'text/plain',
    },
  ),
  'webpack-dev-server': (response) => {
    response.statusCode = 403;
    response.end('Invalid Host header');
  },
  Rails: answering(403, (name) => page(`Blocked hosts: ${name}`), { 'content-type': 'text/html; charset=UTF-8' }),
  // In two pieces, as its server does.
  Django(response) {
    response.writeHead(400, { 'content-type': 'text/html' }).flushHeaders();
    setImmediate(() => response.end(`${djangoPage('DisallowedHost')}<pre>Invalid HTTP_HOST header</pre>`));
  },
  'Next.js': answering(403, () => 'Unauthorized'),
};

/** What others say, and what looks like one. */
const others: Record<string, Answers> = {
  '/forbidden': answering(403, () => 'Forbidden'),
  '/unauthorized': answering(403, () => 'Unauthorized'),
  '/bad-request': answering(400, () => '<h1>Bad Request (400)</h1>'),
  '/another-page': answering(403, () => page('Blocked users: Host')),
  '/another-error': answering(400, () => `${djangoPage('SuspiciousOperation')} DisallowedHost`),
  '/quoted': answering(403, () => 'It says "Invalid Host header".'),
  '/not-found': answering(404, () => 'Invalid Host header'),
  '/good': answering(200, (name) => `Blocked request. This host ("${name}") is not allowed.`),
};

let gateway: TestGateway;
let agent: TestClient;
let server: Server;
let forwardsTo: string;
beforeAll(async () => {
  gateway = await sharedGateway();
  const { authtoken } = await newCredential(await gateway.newAccount());
  const [host = '', port] = gateway.agent.split(':');
  agent = newClient({ host, port: Number(port), ca: gateway.ca }, { authtoken }, PATIENT);
  server = createServer(({ url = '', headers: { host: name = '' } }, response) => {
    const [, refusal = ''] = /^\/(?:_next\/)?refused\/(.*)/.exec(url) ?? [];
    (refusals[refusal] ?? others[url])?.(response, name);
  });
  forwardsTo = `127.0.0.1:${await listen(server)}`;
});
afterAll(async () => {
  await agent?.client.close();
  server?.closeAllConnections();
  server?.close();
});

const logged = () => agent.logs.filter(({ text }) => text === 'the service refuses the name of the endpoint');

test.each(Object.keys(refusals))('%s is recognized, and the log names the flag, once for a tunnel', async (by) => {
  const url = await agent.open({ forwardsTo }).answered;
  agent.logs.length = 0;
  for (let i = 0; i < 2; i++) await visit(`${url}/${by === 'Next.js' ? '_next/' : ''}refused/${by}`, gateway.http);
  expect(logged()).toMatchObject([
    { level: 'warn', details: { to: forwardsTo, by, remedy: expect.stringContaining('--host-header rewrite') } },
  ]);
});

test('other answers are no refusals, nor are any of a service that is asked by a name of its own', async () => {
  const url = await agent.open({ forwardsTo }).answered;
  const named = await agent.open({ forwardsTo, hostHeader: 'http://localhost' }).answered;
  agent.logs.length = 0;
  for (const path of Object.keys(others)) await visit(`${url}${path}`, gateway.http);
  expect((await visit(`${named}/refused/Vite`, gateway.http)).status).toBe(403);
  expect(logged()).toEqual([]);
  await visit(`${url}/refused/Rails`, gateway.http);
  expect(logged()).toHaveLength(1);
});

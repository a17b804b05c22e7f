// `npm run soak -- answers`: a service answers after 90 s, in real time and with the defaults. The answer arrives where an agent, a
// route, a policy or a cloud endpoint allows it, over HTTP/1.1 and HTTP/2, and is a 504 after a minute where nothing does.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newClient, PATIENT, type TestClient } from '../agent/client/support.ts';
import { done, http2Visitor, newEdge, newName } from '../live/edges/support.ts';
import { newCredential, reserve } from '../support/agents/live.ts';
import { type Account, onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';

const LATE_MS = 90_000;
const TIMEOUT_S = 120;
const TEST_MS = 180_000;

let gateway: TestGateway;
let account: Account;
let agent: TestClient;
let service: Server;
let forwardsTo: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.newAccount();
  const { authtoken } = await newCredential(account);
  const [host = '', port] = gateway.agent.split(':');
  agent = newClient({ host, port: Number(port), ca: gateway.ca }, { authtoken }, PATIENT);
  service = createServer((_, response) => void setTimeout(() => response.end('at last'), LATE_MS));
  await once(service.listen(0, '127.0.0.1'), 'listening');
  forwardsTo = `127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await agent?.client.close();
  service?.closeAllConnections();
  service?.close();
  await gateway?.close();
});

const policy = (...others: object[]) => {
  const timeout = { type: 'upstream-timeout', config: { timeout: `${TIMEOUT_S}s` } };
  return JSON.stringify({ on_http_request: [{ actions: [timeout, ...others] }] });
};

/** Where answers may be late, each by another setting; by name. */
async function endpoints(): Promise<Record<string, string>> {
  const labels = { app: 'late' };
  await agent.client.open({ labels, forwardsTo, metadata: '' }).answered;
  const route = await newEdge(account, { labels, modules: { upstream: { timeout: TIMEOUT_S } } });
  await agent.open({ forwardsTo, domain: 'late.internal' }).answered;
  const cloud = `https://${newName('cloud')}`;
  await reserve(account, new URL(cloud).hostname);
  const forward = { type: 'forward-internal', config: { url: 'http://late.internal' } };
  await done(account, 'POST', '/cloud_endpoints', { url: cloud, traffic_policy: policy(forward) });
  return {
    agent: await agent.open({ forwardsTo, upstreamTimeout: TIMEOUT_S }).answered,
    policy: await agent.open({ forwardsTo, policy: policy() }).answered,
    route: `https://${route.name}`,
    'cloud endpoint': cloud,
  };
}

/** The status, the body and the seconds that it took. */
async function timed(visited: Promise<{ status: number | undefined; body: string | Buffer }>) {
  const began = performance.now();
  const { status, body } = await visited;
  return { status, body: String(body), seconds: (performance.now() - began) / 1000 };
}

test.skipIf(onServer)(
  'an answer after 90 s arrives where it is allowed, and is 504 elsewhere',
  { timeout: TEST_MS },
  async () => {
    const allowed = await endpoints();
    const refusing = await agent.open({ forwardsTo }).answered;
    const at = (url: string) => visit(url, url.startsWith('https:') ? gateway.https : gateway.http, { ca: gateway.ca });
    const overHttp2 = await http2Visitor(gateway, { name: new URL(allowed.route as string).hostname });
    const [refused, http2, ...arrived] = await Promise.all([
      timed(at(refusing)),
      timed(overHttp2()),
      ...Object.values(allowed).map((url) => timed(at(url))),
    ]);
    const names = ['nothing', 'route over HTTP/2', ...Object.keys(allowed)];
    for (const [index, { status, seconds }] of [refused, http2, ...arrived].entries())
      process.stdout.write(`allowed by ${names[index]}: ${status} after ${seconds.toFixed(1)} s\n`);
    for (const answer of [http2, ...arrived]) expect(answer).toMatchObject({ status: 200, body: 'at last' });
    expect(refused).toMatchObject({
      status: 504,
      body: expect.stringContaining('The limit is 60 s, set by the gateway.'),
    });
  },
);

// How services are asked, by the module of a route and by the policies of tunnels and cloud endpoints: for how long, by which name,
// and for visitors who have ended their side.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { reserve } from '../../support/agents/live.ts';
import { done, newEdge, newName, type TestEdge } from '../edges/support.ts';
import { answersWhoHasEnded } from '../policy/action-case.ts';
import { type PolicyLab, startPolicyLab } from '../policy/lab.ts';

let lab: PolicyLab;
let edge: TestEdge;
beforeAll(async () => {
  lab = await startPolicyLab();
  edge = await newEdge(lab.account, { labels: { app: 'upstream' } });
  await lab.labelled({ app: 'upstream' });
});
afterAll(() => lab?.close());

const set = (settings: object) => done(lab.account, 'PUT', `${edge.host}/upstream`, settings);

test('a route that rewrites asks the service by the address of its tunnel, and answers by the name of the edge', async () => {
  const { upstream } = lab;
  await set({ host_header: 'rewrite' });
  upstream.asked = [];
  upstream.origin = { status: 201, headers: { location: `http://${upstream.address}/b` } };
  const headers = { destination: `https://${edge.name}/b`, origin: `https://${edge.name}` };
  const answer = await lab.visit(`https://${edge.name}/a`, { method: 'MOVE', headers });
  const own = `http://${upstream.address}`;
  expect(upstream.asked).toMatchObject([
    { method: 'MOVE', headers: { host: upstream.address, destination: `${own}/b`, origin: own } },
  ]);
  expect(answer).toMatchObject({ status: 201, headers: { location: `https://${edge.name}/b` } });
  upstream.origin = {};
});

test('a route has a limit of its own, in seconds, and the page of a 504 says whose it is', async () => {
  await set({ timeout: 1 });
  const answer = await lab.visit(`https://${edge.name}/never`);
  expect(answer).toMatchObject({
    status: 504,
    body: expect.stringContaining('The limit is 1 s, set by its route.'),
  });
});

test('a route that allows it answers a visitor who has ended his side', async () => {
  const { gateway, upstream } = lab;
  await set({ allow_half_close: true });
  await answersWhoHasEnded('/')({ gateway, upstream, host: edge.name, go: () => Promise.resolve(undefined) });
});

test('a policy that rewrites asks the service of a tunnel by its address, also from a cloud endpoint', async () => {
  const { upstream, account } = lab;
  const rewrite = { type: 'host-header', config: { host: 'rewrite' } };
  const internal = `${newName('rewritten').split('.')[0]}.internal`;
  await lab.tunnel('http', internal, null);
  const { url } = await lab.tunnel('https', null, { on_http_request: [{ actions: [rewrite] }] });
  const cloud = `https://${newName('cloud')}`;
  await reserve(account, new URL(cloud).hostname);
  const forward = { type: 'forward-internal', config: { url: `http://${internal}` } };
  await done(account, 'POST', '/cloud_endpoints', {
    url: cloud,
    traffic_policy: JSON.stringify({ on_http_request: [{ actions: [rewrite, forward] }] }),
  });
  for (const at of [url as string, cloud]) {
    upstream.asked = [];
    expect(await lab.visit(at)).toMatchObject({ status: 200 });
    expect(upstream.asked[0]?.headers.host).toBe(upstream.address);
  }
});

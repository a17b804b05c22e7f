// What the control process shows of the traffic at workers: events, captured requests, metrics.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { serve, service } from '../cluster/support.ts';
import { HEARD_HERE, REQUESTS, startReceiver } from '../live/traffic-events/lab.ts';
import { eventually } from '../support/eventually.ts';
import { samples } from '../support/load/metrics.ts';
import { visit } from '../support/visit.ts';
import { LONG, type ProcessGroup, startProcessGroup, WORKERS } from './support.ts';

let group: ProcessGroup;
beforeAll(async () => {
  group = await startProcessGroup(HEARD_HERE);
});
afterAll(() => group?.close());

/** A tunnel of an agent at a worker, before a service that says the path. */
async function open(name: string, worker: number): Promise<string> {
  const port = await service((request, response) => void response.end(request.url));
  return serve(await group.agentAt(worker), port, { domain: `${name}.tunnel.localhost` });
}

/** How many answers visitors have got. */
async function answers(): Promise<number> {
  const all = (await samples(group.gateway.admin)).series('gateway_http_requests_total');
  return all.reduce((sum, { value }) => sum + value, 0);
}

test('only the owner of the processes may open their sockets', () => {
  const { mode } = statSync(join(group.gateway.place.dataDir, 'run'));
  expect((mode & 0o777).toString(8)).toBe('700');
});

test('events of visits at both workers reach a destination', async () => {
  const url = await open('events', 0);
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const { events } = await receiver.hear(group.gateway, [{ type: REQUESTS }]);
  const paths: string[] = [];
  for (const worker of WORKERS) {
    const agent = await group.connectionAt(worker);
    for (let index = 0; index < 5; index++) {
      const path = `/${worker}/${index}`;
      paths.push(path);
      expect((await visit(url, group.gateway.http, { agent, path })).body).toBe(path);
    }
  }
  const told = () => events.map(({ object }) => object.http.request.url.path).filter((path) => paths.includes(path));
  await eventually(() => expect(told().sort()).toEqual(paths));
});

test('policies at both workers read a secret, and another value of it with the next request', async () => {
  const { call } = group.gateway;
  await call('POST', '/vaults', { name: 'workers' });
  const secret = { vault_name: 'workers', name: 'key', value: 'first' };
  const { body: made } = await call('POST', '/vault_secrets', secret);
  const port = await service((request, response) => void response.end(request.headers['x-key']));
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of a policy
  const headers = { 'x-key': "${secrets.get('workers', 'key')}" };
  const policy = { on_http_request: [{ actions: [{ type: 'add-headers', config: { headers } }] }] };
  const url = await serve(await group.agentAt(0), port, { domain: 'secrets.tunnel.localhost', policy });
  for (const value of ['first', 'second']) {
    await call('PATCH', `/vault_secrets/${made.id}`, { value });
    for (const worker of WORKERS) {
      const agent = await group.connectionAt(worker);
      expect((await visit(url, group.gateway.http, { agent })).body).toBe(value);
    }
  }
});

test('requests are captured at both workers, and replayed', async () => {
  const url = await open('captured', 1);
  const { nodes } = await group.graphql('{ endpoints { nodes { id publicUrl } } }');
  const { id } = nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl === url);
  await group.graphql('mutation ($id: ID!) { startTrafficCapture(endpointId: $id, input: {}) { isOn } }', { id });
  for (const worker of WORKERS)
    await visit(url, group.gateway.http, { agent: await group.connectionAt(worker), path: `/${worker}` });
  const list = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { id url replayOf } } }';
  const captured = async () => (await group.graphql(list, { id })).nodes;
  const expected = ['/1', '/0'];
  await eventually(async () =>
    expect((await captured()).map((one: { url: string }) => new URL(one.url).pathname)).toEqual(expected),
  );
  const replay = 'mutation ($id: ID!) { replayRequest(id: $id) { status body { text } captured { replayOf } } }';
  for (const [index, { id }] of (await captured()).entries())
    expect(await group.graphql(replay, { id })).toEqual({
      status: 200,
      body: { text: expected[index] },
      captured: { replayOf: id },
    });
});

test('a capture goes on at a worker that takes the place of one that was killed', LONG, async () => {
  const url = await open('taken-over', 0);
  const { nodes } = await group.graphql('{ endpoints { nodes { id publicUrl } } }');
  const { id } = nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl === url);
  await group.graphql('mutation ($id: ID!) { startTrafficCapture(endpointId: $id, input: {}) { isOn } }', { id });
  group.kill(1, 'SIGKILL');
  await group.settled();
  const agent = await group.connectionAt(1);
  await eventually(async () =>
    expect((await visit(url, group.gateway.http, { agent, path: '/new' })).status).toBe(200),
  );
  const list = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { path } } }';
  await eventually(async () => expect((await group.graphql(list, { id })).nodes).toContainEqual({ path: '/new' }));
  expect(await group.graphql('{ runningCaptures { state endpoint { id } } }')).toContainEqual({
    state: 'RECORDING',
    endpoint: { id },
  });
});

test('metrics are the sums over the workers, and stay so when a worker has ended', async () => {
  const url = await open('counted', 0);
  // One after the other, so that what is measured is all there was.
  const grow = async (worker: number, visits: number) => {
    const agent = await group.connectionAt(worker);
    const before = await answers();
    for (let index = 0; index < visits; index++) await visit(url, group.gateway.http, { agent });
    expect(await answers()).toBe(before + visits);
  };
  await grow(0, 7);
  await grow(1, 5);
  const before = await answers();
  group.kill(1, 'SIGKILL');
  await group.settled();
  // The new worker has visited itself.
  const after = await answers();
  expect(after - before).toBeGreaterThanOrEqual(0);
  expect(after - before).toBeLessThanOrEqual(1);
  await grow(1, 5);
  await grow(0, 7);
});

// Two workers beside one control process: any of them serves any tunnel, the control process shows the traffic of both, and one that
// is killed takes its own connections with it, and nothing else.

import { once } from 'node:events';
import { statSync } from 'node:fs';
import { get, type Agent as HttpAgent } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { DEFAULT_TIMING } from '../../agent/src/client/timing.ts';
import { listen } from '../agent/client/peer.ts';
import { newClient, PATIENT, type TestClient } from '../agent/client/support.ts';
import { serve, service } from '../cluster/support.ts';
import { HEARD_HERE, REQUESTS, startReceiver } from '../live/traffic-events/lab.ts';
import { httpName, openSdkSession } from '../support/agents/sdk.ts';
import { eventually } from '../support/eventually.ts';
import { samples } from '../support/load/metrics.ts';
import { newSession, resumes } from '../support/tls-session.ts';
import { visit } from '../support/visit.ts';
import { connectionsOf } from './kept.ts';
import { LONG, type ProcessGroup, startProcessGroup, WORKERS } from './support.ts';
import { startVisitors } from './visitors.ts';

/** With a connection for each visit, so many come to both workers. */
const VISITS = 10;
/** Agents at the worker that is killed, and at the one that stays. */
const AGENTS = 2;
/** Those that are spread again, of ours and with an SDK. */
const OWN_AGENTS = 8;
const SDK_AGENTS = 4;
/** Between two visits of a tunnel that must not fail; milliseconds. */
const LOOK_MS = 10;
/** A second was seen; the machine may be busy. */
const BACK_MS = 15_000;

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

const protocols = ['http', 'https'] as const;

test.each(protocols)('whichever worker an %s visitor comes to, the tunnel that was asked answers', async (protocol) => {
  const names = WORKERS.map((index) => `${protocol}-${index}.tunnel.localhost`);
  for (const worker of WORKERS) {
    const port = await service((_, response) => void response.end(names[worker]));
    await serve(await group.agentAt(worker), port, { protocol, domain: names[worker] as string });
  }
  const options = (agent?: HttpAgent) => ({ ca: group.ca, ...(agent && { agent }) });
  const ask = (agent?: HttpAgent) =>
    Promise.all(
      names.map(async (name) => {
        const { body } = await visit(`${protocol}://${name}/`, group.gateway[protocol], options(agent));
        return body;
      }),
    );
  for (const worker of WORKERS) expect(await ask(await group.connectionAt(worker, protocol))).toEqual(names);
  for (let turn = 0; turn < VISITS; turn++) expect(await ask()).toEqual(names);
});

test.each(['TLSv1.2', 'TLSv1.3'] as const)('a session of TLS is resumed at either worker: %s', async (version) => {
  // Nobody has this name, so no worker asks the other, which is stopped.
  const terms = { servername: 'nobody.tunnel.localhost', ca: group.ca, minVersion: version, maxVersion: version };
  const { https } = group.gateway;
  const session = await group.at(0, () => newSession(https, terms));
  for (const worker of WORKERS)
    expect(await group.at(worker, () => resumes(https, { ...terms, session })), `worker ${worker}`).toBe(true);
});

test('the request log has what came to each worker', async () => {
  const port = await service((_, response) => void response.end());
  const url = await serve(await group.agentAt(0), port);
  for (const worker of WORKERS)
    await visit(url, group.gateway.http, { path: `/${worker}`, agent: await group.connectionAt(worker) });
  const log = await group.graphql(`{ requestLog(text: "${new URL(url).hostname}") { partial nodes { path } } }`);
  const nodes = [...WORKERS].reverse().map((worker) => ({ path: `/${worker}` }));
  expect(log).toEqual({ partial: false, nodes });
  // So have the endpoint's own, from either end.
  for (const [size, found] of [['first: 1', nodes.slice(0, 1)] as const, ['last: 1', nodes.slice(-1)] as const]) {
    const ofEndpoint = await group.graphql(
      `{ endpoints(where: { publicUrl: { eq: "${url}" } }) { nodes { requests(${size}) { partial nodes { path } } } } }`,
    );
    expect(ofEndpoint).toEqual({ nodes: [{ requests: { partial: false, nodes: found } }] });
  }
});

test('whichever worker a TCP visitor comes to, the tunnel of the port answers', async () => {
  const urls: string[] = [];
  for (const worker of WORKERS) {
    const server = createServer((socket) => socket.on('error', () => {}).end(`tunnel ${worker}`));
    onTestFinished(() => void server.close());
    urls.push(await serve(await group.agentAt(worker), await listen(server), { protocol: 'tcp' }));
  }
  const ask = () => Promise.all(urls.map((url) => text(connect(Number(new URL(url).port), '127.0.0.1'))));
  const expected = urls.map((_, worker) => `tunnel ${worker}`);
  for (let turn = 0; turn < VISITS; turn++) expect(await ask()).toEqual(expected);
});

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

test('cloud endpoints are at both workers, and take turns with a pooled tunnel of either', async () => {
  const { call } = group.gateway;
  const domain = 'pooled.tunnel.localhost';
  await call('POST', '/reserved_domains', { domain });
  const action = { type: 'custom-response', config: { status_code: 200, content: 'cloud' } };
  const traffic_policy = JSON.stringify({ on_http_request: [{ actions: [action] }] });
  const body = { url: `http://${domain}`, traffic_policy, pooling_enabled: true };
  expect((await call('POST', '/cloud_endpoints', body)).status).toBe(201);
  const port = await service((_, response) => void response.end('tunnel'));
  const forwardsTo = `127.0.0.1:${port}`;
  await (await group.agentAt(0)).open({ protocol: 'http', domain, forwardsTo, pooling: true }).answered;
  for (const worker of WORKERS) {
    const agent = await group.connectionAt(worker);
    const bodies = async () => {
      const all: string[] = [];
      for (let i = 0; i < 4; i++) all.push(String((await visit(body.url, group.gateway.http, { agent })).body));
      return all.sort();
    };
    await eventually(async () => expect(await bodies()).toEqual(['cloud', 'cloud', 'tunnel', 'tunnel']));
  }
});

test('a pooled cloud endpoint is left out at both workers while the agent of one is away that it sends visitors to', async () => {
  const { call } = group.gateway;
  const domain = 'health.tunnel.localhost';
  await call('POST', '/reserved_domains', { domain });
  const url = `http://${domain}`;
  for (const action of [
    { type: 'custom-response', config: { status_code: 200, content: 'here' } },
    { type: 'forward-internal', config: { url: 'http://health.internal' } },
  ]) {
    const traffic_policy = JSON.stringify({ on_http_request: [{ actions: [action] }] });
    const made = await call('POST', '/cloud_endpoints', { url, traffic_policy, pooling_enabled: true });
    expect(made.status, made.text).toBe(201);
  }
  const connections: HttpAgent[] = [];
  for (const worker of WORKERS) connections.push(await group.connectionAt(worker));
  const served = async (times: number) => {
    for (const agent of connections) {
      const bodies = new Map<string, number>();
      for (let i = 0; i < 4; i++) {
        const body = String((await visit(url, group.gateway.http, { agent })).body);
        bodies.set(body, (bodies.get(body) ?? 0) + 1);
      }
      expect(bodies).toEqual(new Map([['here', 4 - times], ...(times ? [['agent', times] as const] : [])]));
    }
  };
  await eventually(() => served(0));
  const port = await service((_, response) => void response.end('agent'));
  const agent = await group.agentAt(1);
  const tunnel = agent.open({ protocol: 'http', domain: 'health.internal', forwardsTo: `127.0.0.1:${port}` });
  await tunnel.answered;
  await eventually(() => served(2));
  await tunnel.close();
  await eventually(() => served(0));
});

test('requests are captured at both workers, and replayed', async () => {
  const url = await open('captured', 1);
  const { nodes } = await group.graphql('{ endpoints { nodes { id publicUrl } } }');
  const { id } = nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl === url);
  await group.graphql(
    'mutation ($id: ID!) { startTrafficCapture(endpointId: $id, input: {}) { trafficCapture { isOn } } }',
    { id },
  );
  for (const worker of WORKERS)
    await visit(url, group.gateway.http, { agent: await group.connectionAt(worker), path: `/${worker}` });
  const list = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { id url replayOf } } }';
  const captured = async () => (await group.graphql(list, { id })).nodes;
  const expected = ['/1', '/0'];
  await eventually(async () =>
    expect((await captured()).map((one: { url: string }) => new URL(one.url).pathname)).toEqual(expected),
  );
  const replay =
    'mutation ($id: ID!) { replayRequest(id: $id) { replay { status body { text } captured { replayOf } } } }';
  for (const [index, { id }] of (await captured()).entries())
    expect(await group.graphql(replay, { id })).toEqual({
      status: 200,
      body: { text: expected[index] },
      captured: { replayOf: id },
    });
});

test(
  'at a worker that takes the place of one that was killed a capture goes on; metrics are the sums, before and after',
  LONG,
  async () => {
    const url = await open('taken-over', 0);
    const { nodes } = await group.graphql('{ endpoints { nodes { id publicUrl } } }');
    const { id } = nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl === url);
    await group.graphql(
      'mutation ($id: ID!) { startTrafficCapture(endpointId: $id, input: {}) { trafficCapture { isOn } } }',
      { id },
    );
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

    const agent = await group.connectionAt(1);
    await eventually(async () =>
      expect((await visit(url, group.gateway.http, { agent, path: '/new' })).status).toBe(200),
    );
    const list = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { path } } }';
    await eventually(async () => expect((await group.graphql(list, { id })).nodes).toContainEqual({ path: '/new' }));
    expect(await group.graphql('{ runningCaptures { nodes { state endpoint { id } } } }')).toEqual({
      nodes: expect.arrayContaining([{ state: 'RECORDING', endpoint: { id } }]),
    });
    await grow(1, 5);
    await grow(0, 7);
  },
);

/** An agent as it is without a test's short pauses, and the name of its tunnel, with which the service answers. */
async function agentAt(worker: number, name: string): Promise<TestClient> {
  const agent = await group.agentAt(worker, { timing: DEFAULT_TIMING });
  await serve(agent, await service((_, response) => void response.end(name)), { domain: name });
  return agent;
}

const namesOf = (prefix: string) => Array.from({ length: AGENTS }, (_, index) => `${prefix}-${index}.tunnel.localhost`);

test(
  'its agents are back within moments, tunnels at the other worker do not fail, and another is started',
  LONG,
  async () => {
    const [staying, lost] = [namesOf('staying'), namesOf('lost')];
    for (const name of staying) await agentAt(0, name);
    const agents: TestClient[] = [];
    for (const name of lost) agents.push(await agentAt(1, name));

    // At the worker that stays: the connections of the other end with it.
    const own = await group.connectionAt(0);
    const failures: string[] = [];
    let visits = 0;
    let isOver = false;
    const visiting = (async () => {
      while (!isOver)
        for (const name of staying) {
          const answer = await visit(`http://${name}/`, group.gateway.http, { agent: own }).catch(String);
          if (typeof answer === 'string' || answer.body !== name) failures.push(JSON.stringify(answer));
          visits++;
          await pause(LOOK_MS);
        }
    })();
    onTestFinished(() => {
      isOver = true;
    });

    const killed = group.kill(1, 'SIGKILL');
    const began = performance.now();
    // All are served again: by the worker that is left, or by the one that is new.
    for (const name of lost)
      await eventually(async () => {
        const { body } = await visit(`http://${name}/`, group.gateway.http, { agent: own });
        expect(body).toBe(name);
      });
    expect(performance.now() - began).toBeLessThan(BACK_MS);
    for (const { client } of agents) expect(client.status.sessions).toBe(2);

    await group.settled();
    expect(group.pid(1)).not.toBe(killed);
    await agentAt(1, 'new.tunnel.localhost');
    expect((await visit('http://new.tunnel.localhost/', group.gateway.http, { agent: own })).body).toBe(
      'new.tunnel.localhost',
    );
    isOver = true;
    await visiting;
    expect(failures).toEqual([]);
    expect(visits).toBeGreaterThan(AGENTS);
  },
);

test(
  'agents that have all come to one worker are spread again: ours and those with an SDK, and no visitor is cut or refused',
  LONG,
  async () => {
    const { agent, http, authtoken = '' } = group.gateway;
    const [host = '', port] = agent.split(':');
    const place = { host, port: Number(port), ca: group.ca };
    const names: string[] = [];
    const origin = await service((request, response) => {
      if (request.url !== '/stream') return void response.end(request.headers.host);
      const ticks = setInterval(() => response.write('tick'), 100);
      response
        .on('close', () => clearInterval(ticks))
        .writeHead(200)
        .write('tick');
    });
    // As after the end of the other: it accepts nobody.
    await group.at(0, async () => {
      for (let index = 0; index < OWN_AGENTS; index++) {
        const one = newClient(place, { authtoken, legs: 1 }, PATIENT);
        onTestFinished(() => one.client.close());
        names.push(`spread-${index}.tunnel.localhost`);
        await one.open({ domain: names.at(-1) as string, forwardsTo: `127.0.0.1:${origin}` }).answered;
      }
      for (let index = 0; index < SDK_AGENTS; index++) {
        const { session, close } = await openSdkSession({ agent, ca: group.ca }, authtoken);
        onTestFinished(close);
        names.push(`spread-sdk-${index}.tunnel.localhost`);
        await httpName(session, names.at(-1) as string).listenAndForward(`http://127.0.0.1:${origin}`);
      }
    });
    const open = () =>
      connectionsOf(
        WORKERS.map((worker) => group.pid(worker) ?? 0),
        agent,
      );
    const all = OWN_AGENTS + SDK_AGENTS;
    await eventually(() => expect(open()).toEqual([all, 0])); // Those of other tests go.
    /** Streams of agents of both kinds. */
    const cut: string[] = [];
    for (const name of [names[0], names.at(-1)] as string[]) {
      const stream = get(`http://${http}/stream`, { headers: { host: name } }, (response) =>
        response.resume().on('error', () => cut.push(name)),
      );
      stream.on('error', () => cut.push(name));
      onTestFinished(() => void stream.destroy());
      await once(stream, 'response');
    }
    const visitors = startVisitors(http, Object.fromEntries(names.map((name) => [name, name])), 4);
    await eventually(() => expect(Math.min(...open())).toBeGreaterThanOrEqual(all / 2 - 2), { timeout: 90_000 });
    await visitors.more(all);
    expect(cut).toEqual([]);
    await visitors.stop();
    expect(visitors.failures).toEqual([]);
  },
);

test('who connects anew while a worker is killed reaches the other', LONG, async () => {
  const name = 'anew.tunnel.localhost';
  await agentAt(0, name);
  // At worker 1 nobody is when it ends: a connection that it has accepted would end with it.
  await group.at(0, async () => {
    const visitors = startVisitors(group.gateway.http, { [name]: name });
    await visitors.more(20);
    group.kill(1, 'SIGKILL');
    await visitors.more(60);
    await visitors.stop();
    expect(visitors.failures).toEqual([]);
  });
});

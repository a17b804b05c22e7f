// Figures of traffic through the whole gateway: exactly what visitors did, in the ten seconds in which they did it.

import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { newCredential } from '../../support/agents/live.ts';
import { httpName, sdkSession } from '../../support/agents/sdk.ts';
import { visit } from '../../support/visit.ts';
import { backendOf, done, labelled, newEdge, newName, visitEdge } from '../edges/support.ts';
import { account, ask, clock, endpointIdOf, gateway, openSdk, POINT, startService, useGateway } from './lab.ts';

useGateway();

const history = (args: string) => `trafficHistory${args} { step from to points { ${POINT} } total { ${POINT} } }`;
const lastMinutes = () => `(from: "${new Date(clock.bucket - 60_000).toISOString()}", step: TEN_SECONDS)`;

/** The points that are not zero, which is what the test waits for. */
async function pointsOf(id: string) {
  const { endpoint } = await ask(`query ($id: ID!) { endpoint(id: $id) { ${history(lastMinutes())} } }`, { id });
  return endpoint.trafficHistory.points.filter(({ requests }: { requests: number }) => requests > 0);
}

describe('an endpoint', () => {
  test('has each request once, by the status of its response, and how long it took', async () => {
    const url = await startService((request, response) => {
      response.writeHead(Number(request.url?.slice(1))).end('x'.repeat(100));
    });
    const name = newName('figures');
    await httpName(await openSdk(), name).listenAndForward(url);
    const id = await endpointIdOf(name);
    const statuses = [200, 200, 200, 204, 301, 404, 404, 500];
    for (const status of statuses) await visit(`http://${name}/${status}`, gateway.http);
    const at = new Date(clock.bucket).toISOString();
    clock.pass(1);
    await expect.poll(() => pointsOf(id)).toHaveLength(1);
    const [point] = await pointsOf(id);
    expect(point).toEqual({
      at,
      requests: 8,
      responses: { informational: 0, success: 4, redirection: 1, clientError: 2, serverError: 1, none: 0 },
      duration: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
      firstByte: { p50: expect.any(Number), p95: expect.any(Number), p99: expect.any(Number) },
      bytesIn: expect.any(Number),
      bytesOut: expect.any(Number),
      openConnections: 0,
      connections: 0,
    });
    expect(point.bytesOut).toBeGreaterThan(700);
    expect(point.duration.p99).toBeGreaterThanOrEqual(point.duration.p50);
  });

  test('of an edge counts for the edge and the route, too, and for the account', async () => {
    const url = await startService((_, response) => void response.end('hello'));
    const edge = await newEdge(account, { labels: { figures: 'edge' } });
    await labelled(await openSdk(), { figures: 'edge' }, url);
    await expect.poll(async () => (await visitEdge(gateway, edge)).status).toBe(200);
    const { body: before } = await account.graphql(`{ ${history('')} }`);
    const first = before.data.trafficHistory.total.requests;
    for (let i = 0; i < 4; i++) await visitEdge(gateway, edge);
    clock.pass(1);
    const figures = async () => {
      const { httpsEdge, trafficHistory } = await ask(
        `query ($id: ID!) { ${history('')} httpsEdge(id: $id) { ${history('')} routes { ${history('')} } } }`,
        { id: edge.id },
      );
      const total = (of: { trafficHistory: { total: { requests: number } } }) => of.trafficHistory.total.requests;
      const id = await endpointIdOf(edge.name);
      const { endpoint } = await ask(`query ($id: ID!) { endpoint(id: $id) { ${history('')} } }`, { id });
      return [total(httpsEdge), total(httpsEdge.routes[0]), total(endpoint), total({ trafficHistory }) - first];
    };
    await expect.poll(figures).toEqual([5, 5, 5, expect.any(Number)]);
    expect((await figures())[3]).toBeGreaterThanOrEqual(4);
  });

  test('of a TCP edge counts each connection for the edge, too', async () => {
    const url = await startService((_, response) => void response.end('hello'));
    const labels = { figures: 'tcp' };
    const { addr } = await done(account, 'POST', '/reserved_addrs', {});
    const backend = await backendOf(account, labels);
    const { id } = await done(account, 'POST', '/edges/tcp', { hostports: [addr], backend });
    await labelled(await openSdk(), labels, url);
    const visits = 3;
    for (let i = 0; i < visits; i++) await expect.poll(() => answerOf(Number(addr.split(':')[1]))).toContain('hello');
    clock.pass(1);
    const connections = async () => {
      const { tcpEdge } = await ask(`query ($id: ID!) { tcpEdge(id: $id) { ${history('')} } }`, { id });
      return tcpEdge.trafficHistory.total.connections;
    };
    await expect.poll(connections).toBe(visits);
  });
});

/** What the service behind a port answers; '' when the connection is cut, as it is until a tunnel is there. */
async function answerOf(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('error', () => {});
  socket.on('data', (text) => {
    answer += text;
  });
  socket.write('GET / HTTP/1.1\r\nhost: any\r\nconnection: close\r\n\r\n');
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}

test('endpoints are ranked by requests, failures and slowness; those without, gone and of others are left out', async () => {
  const own = await gateway.newAccount();
  const sdk = await sdkSession(gateway, (await newCredential(own)).authtoken);
  /** How many requests each gets, with which status, and after how long; milliseconds. */
  const plans = {
    busy: { requests: 5, status: 200, delay: 0 },
    broken: { requests: 3, status: 500, delay: 0 },
    slow: { requests: 1, status: 502, delay: 200 },
    unvisited: { requests: 0, status: 200, delay: 0 },
    gone: { requests: 9, status: 500, delay: 0 },
  };
  const names = new Map<string, string>();
  for (const [kind, { requests, status, delay }] of Object.entries(plans)) {
    const url = await startService((_, response) => {
      setTimeout(() => response.writeHead(status).end(), delay);
    });
    const name = newName(kind);
    names.set(name, kind);
    const listener = await httpName(sdk, name).listenAndForward(url);
    for (let i = 0; i < requests; i++) await visit(`http://${name}/`, gateway.http);
    if (kind === 'gone') await listener.close();
  }
  clock.pass(1);
  const ranking = (orderBy: string) =>
    `${orderBy}: endpointsByTraffic(orderBy: ${orderBy}, first: 2) { endpoint { hostport } total { requests } }`;
  const query = `{ ${['REQUESTS', 'ERRORS', 'SLOWEST'].map(ranking).join(' ')} }`;
  type Ranked = { endpoint: { hostport: string }; total: { requests: number } };
  const shown = async () =>
    Object.values(await ask(query, {}, own)).map((ranked) =>
      (ranked as Ranked[]).map(({ endpoint, total }) => [
        names.get(endpoint.hostport.split(':')[0] ?? ''),
        total.requests,
      ]),
    );
  await expect.poll(shown).toEqual([
    [
      ['busy', 5],
      ['broken', 3],
    ],
    [
      ['broken', 3],
      ['slow', 1],
    ],
    [['slow', 1], expect.anything()],
  ]);
  expect(await ask(`{ ${ranking('REQUESTS')} }`, {}, await gateway.newAccount())).toEqual({ REQUESTS: [] });
});

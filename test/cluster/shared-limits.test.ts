// Rate limits and circuit breakers that hold over several gateways, whichever of them visitors come to.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newEdge, visitEdge } from '../live/edges/support.ts';
import { eventually } from '../support/eventually.ts';
import { onServer, type TestGateway } from '../support/gateway/gateway.ts';
import { visit } from '../support/visit.ts';
import { agentAt, type Cluster, named, serve, service, startCluster } from './support.ts';

const SHARE_MS = 20;

describe.runIf(onServer)('over three gateways', () => {
  let cluster: Cluster;
  let owner: TestGateway;
  let entry: TestGateway;
  let third: TestGateway;
  beforeAll(async () => {
    cluster = await startCluster(3, { LIMIT_SHARE_MS: String(SHARE_MS) });
    [owner, entry, third] = cluster.gateways as [TestGateway, TestGateway, TestGateway];
  });
  afterAll(() => cluster?.close());

  const limited = (capacity: number) => ({
    on_http_request: [
      {
        actions: [
          {
            type: 'rate-limit',
            config: {
              name: 'all',
              algorithm: 'sliding_window',
              capacity,
              rate: '60s',
              bucket_key: ['req.headers["x-key"][0]'],
            },
          },
        ],
      },
    ],
  });

  test('what one has let in counts at the others, also at one that has had no visitor yet', async () => {
    const url = await serve(await agentAt(owner, cluster.account), await named('limited'), { policy: limited(5) });
    const ask = async (gateway: TestGateway, key: string) =>
      (await visit(url, gateway.http, { headers: { 'x-key': key } })).status;
    for (let i = 0; i < 5; i++) expect(await ask(entry, 'one')).toBe(200);
    expect(await ask(entry, 'one')).toBe(429);
    for (const gateway of [owner, third]) await eventually(async () => expect(await ask(gateway, 'one')).toBe(429));
    // The other keys are not touched.
    for (const gateway of cluster.gateways) expect(await ask(gateway, 'two')).toBe(200);
  });

  test('all let in no more than the limit, and what came while they had not shared', async () => {
    const capacity = 200;
    const url = await serve(await agentAt(owner, cluster.account), await named('rate'), { policy: limited(capacity) });
    const headers = { 'x-key': 'all' };
    // Each knows the tunnel before it is measured.
    for (const gateway of cluster.gateways) await visit(url, gateway.http, { headers: { 'x-key': 'first' } });
    let allowed = 0;
    let asked = 0;
    const begun = performance.now();
    while (asked < 900) {
      const statuses = await Promise.all(
        cluster.gateways.map(async (gateway) => (await visit(url, gateway.http, { headers })).status),
      );
      asked += statuses.length;
      allowed += statuses.filter((status) => status === 200).length;
    }
    const perMs = asked / (performance.now() - begun);
    expect(allowed).toBeGreaterThanOrEqual(capacity);
    // Twice the time: sharing takes a moment, too, and this machine has other work. Without sharing, each lets in the limit.
    const overshoot = perMs * SHARE_MS * (cluster.gateways.length - 1) * 2;
    expect(allowed).toBeLessThan(2 * capacity);
    expect(allowed).toBeLessThanOrEqual(capacity + overshoot);
  });

  test('a circuit breaker that trips at one opens at all, and closes at all after the trial of that one', async () => {
    let status = 500;
    let asked = 0;
    const port = await service((_, response) => {
      asked++;
      response.writeHead(status).end();
    });
    const policy = {
      on_http_request: [
        {
          actions: [
            {
              type: 'circuit-breaker',
              config: { error_threshold: 0.5, volume_threshold: 50, tripped_duration: '2s', window_duration: '60s' },
            },
          ],
        },
      ],
    };
    const url = await serve(await agentAt(owner, cluster.account), port, { policy });
    const ask = async (gateway: TestGateway) => (await visit(url, gateway.http)).status;
    // The third has the breaker already; the owner makes it only when it has tripped elsewhere.
    expect(await ask(third)).toBe(500);
    for (let i = 0; i < 50; i++) expect(await ask(entry)).toBe(500);
    expect(await ask(entry)).toBe(503);
    const tripped = asked;
    for (const gateway of [third, owner]) await eventually(async () => expect(await ask(gateway)).toBe(503));
    // They have heard of it, and not counted failures of their own.
    expect(asked - tripped).toBeLessThan(49);
    status = 200;
    const before = asked;
    await eventually(async () => expect(await ask(entry)).toBe(200));
    // One request was the trial, and the others hear of its end.
    expect(asked).toBe(before + 1);
    for (const gateway of [third, owner]) await eventually(async () => expect(await ask(gateway)).toBe(200));
  });

  test('the circuit breaker of a route opens at all, and each gateway tells of what was counted at all', async () => {
    const port = await service(
      (request, response) => void response.writeHead(request.url === '/bad' ? 500 : 200).end(),
    );
    const labels = { site: 'breaking' };
    const agent = await agentAt(owner, cluster.account);
    await agent.client.open({ labels, forwardsTo: `127.0.0.1:${port}`, metadata: '' }).answered;
    const circuit_breaker = { volume_threshold: 4, error_threshold_percentage: 0.5, tripped_duration: 60 };
    const edge = await newEdge(cluster.account, { labels, modules: { circuit_breaker } });
    const query = `{ httpsEdgeRoute(edgeId: "${edge.id}", id: "${edge.hostId}") {
      circuitBreakerState { state requests failures partial } } }`;
    const stateAt = async (gateway: TestGateway) =>
      (await gateway.graphql(query, undefined, { key: cluster.account.key })).body.data.httpsEdgeRoute
        .circuitBreakerState;
    for (const gateway of cluster.gateways)
      await eventually(async () => expect((await visitEdge(gateway, edge)).status).toBe(200));
    for (const gateway of cluster.gateways)
      expect(await stateAt(gateway)).toEqual({ state: 'CLOSED', requests: 3, failures: 0, partial: false });
    for (let i = 0; i < 3; i++) expect((await visitEdge(entry, edge, '/bad')).status).toBe(500);
    // Until a gateway has heard of it, it lets visitors through. It forgets those that it was still counting.
    let letThrough = 0;
    for (const gateway of cluster.gateways)
      await eventually(async () => {
        const { status } = await visitEdge(gateway, edge);
        if (status === 200) letThrough++;
        expect(status).toBe(503);
      });
    const [state, ...others] = await Promise.all(cluster.gateways.map(stateAt));
    expect(state).toMatchObject({ state: 'OPEN', failures: 3, partial: false });
    expect(state.requests).toBeGreaterThanOrEqual(6);
    expect(state.requests).toBeLessThanOrEqual(6 + letThrough);
    for (const other of others) expect(other).toEqual(state);
  });
});

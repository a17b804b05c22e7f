// Captured requests over several gateways: each captures what comes to it, and whoever is asked shows all.

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { answerOf } from '../support/gateway/answer.ts';
import { type Owner, onServer, startTestGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { subscribe } from '../support/gateway/sse.ts';
import { visit } from '../support/visit.ts';
import { agentAt, type Cluster, nodeEnvironment, serve, service, startCluster } from './support.ts';

const CAPTURE = 'isOn kept passed mayLook partial';

describe.runIf(onServer)('over three gateways', () => {
  let cluster: Cluster;
  let owner: TestGateway;
  let entry: TestGateway;
  let third: TestGateway;
  beforeAll(async () => {
    cluster = await startCluster(3);
    [owner, entry, third] = cluster.gateways as [TestGateway, TestGateway, TestGateway];
  });
  afterAll(() => cluster?.close());

  /** Asks a gateway, as the admin of the account unless told otherwise. */
  const ask = async (
    gateway: TestGateway,
    query: string,
    variables: object,
    { key }: Pick<Owner, 'key'> = cluster.account,
  ) => {
    const { body } = await gateway.graphql(query, variables, { key });
    return body.errors ? body.errors[0].extensions.code : answerOf(query, body.data);
  };
  const change = (gateway: TestGateway, name: string, id: string, args = '') =>
    ask(gateway, `mutation ($id: ID!) { ${name}(endpointId: $id${args}) { trafficCapture { ${CAPTURE} } } }`, { id });
  const list = (gateway: TestGateway, id: string, args = '', by?: Owner) =>
    ask(
      gateway,
      `query ($id: ID!) { capturedRequests(endpointId: $id${args}) { partial pageInfo { hasNextPage endCursor }
         nodes { id url method requestBody { bytes keptBytes base64 } } } }`,
      { id },
      by,
    );
  /** A list in which no node is missing: one that is busy answers late, and the list is partial. */
  const whole = (gateway: TestGateway, id: string, args = '') =>
    eventually(async () => {
      const page = await list(gateway, id, args);
      expect(page.partial).toBe(false);
      return page;
    });
  /** A tunnel before a service that gives back what it gets. */
  async function tunnel() {
    const port = await service((request, response) => void request.pipe(response));
    const url = await serve(await agentAt(owner, cluster.account), port);
    const { endpoints } = (await cluster.account.graphql('{ endpoints { nodes { id publicUrl } } }')).body.data;
    const { id } = endpoints.nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl === url);
    return { url, id };
  }
  const paths = (page: { nodes: { url: string }[] }) => page.nodes.map(({ url }) => new URL(url).pathname);

  test('what came to any is listed at each, in the order of time, page by page, until it is stopped and cleared', async () => {
    const { url, id } = await tunnel();
    expect(await change(third, 'startTrafficCapture', id, ', input: {}')).toMatchObject({ isOn: true, partial: false });
    const all = ['/1', '/2', '/3', '/4', '/5', '/6'];
    for (const [i, path] of all.entries())
      expect((await visit(url, (cluster.gateways[i % 3] as TestGateway).http, { path })).status).toBe(200);
    for (const gateway of cluster.gateways) {
      await eventually(async () => expect(paths(await list(gateway, id))).toEqual(all.toReversed()));
      const first = await whole(gateway, id, ', first: 4');
      expect([paths(first), first.pageInfo.hasNextPage]).toEqual([['/6', '/5', '/4', '/3'], true]);
      expect(paths(await whole(gateway, id, `, after: "${first.pageInfo.endCursor}"`))).toEqual(['/2', '/1']);
    }
    expect(await change(entry, 'stopTrafficCapture', id)).toMatchObject({ isOn: false, kept: 6, passed: 6 });
    for (const gateway of cluster.gateways) await visit(url, gateway.http, { path: '/after' });
    expect(await change(owner, 'clearTrafficCapture', id)).toMatchObject({ isOn: false, kept: 0 });
    for (const gateway of cluster.gateways) expect(paths(await whole(gateway, id))).toEqual([]);
  });

  test('a single one is read from the node that has it, with bodies of a mebibyte, and sent again', async () => {
    const { url, id } = await tunnel();
    await change(owner, 'startTrafficCapture', id, ', input: { bodyBytes: 1048576 }');
    const body = randomBytes(2 ** 20);
    expect((await visit(url, entry.http, { method: 'POST', path: '/large', body })).status).toBe(200);
    let requestId = '';
    await eventually(async () => {
      const { nodes } = await list(third, id);
      expect(nodes).toMatchObject([{ method: 'POST', requestBody: { bytes: body.length, keptBytes: body.length } }]);
      requestId = nodes[0].id;
    });
    const single = 'query ($id: ID!) { capturedRequest(id: $id) { requestBody { base64 } } }';
    expect(await ask(third, single, { id: requestId })).toEqual({ requestBody: { base64: body.toString('base64') } });
    const replay =
      'mutation ($id: ID!) { replayRequest(id: $id) { replay { status body { bytes } captured { replayOf } } } }';
    for (const gateway of [third, owner])
      expect(await ask(gateway, replay, { id: requestId })).toEqual({
        status: 200,
        body: { bytes: body.length },
        captured: { replayOf: requestId },
      });
    // A node that is busy answers late, and the list is partial.
    await eventually(async () => expect(paths(await list(entry, id))).toEqual(['/large', '/large', '/large']));
  });

  test('the request log of any node has the requests that came to each, the newest first', async () => {
    const { url, id } = await tunnel();
    const all = ['/a', '/b', '/c'];
    for (const [i, path] of all.entries()) await visit(url, (cluster.gateways[i] as TestGateway).http, { path });
    const log = 'query ($id: ID!) { requestLog(endpointId: $id) { partial nodes { url path } } }';
    for (const gateway of cluster.gateways)
      await eventually(async () => {
        const page = await ask(gateway, log, { id });
        expect([page.partial, paths(page)]).toEqual([false, all.toReversed()]);
      });
  });

  test('who may not look at one node’s captures may at none, and another account finds nothing', async () => {
    const { url, id } = await tunnel();
    await change(owner, 'startTrafficCapture', id, ', input: {}');
    await visit(url, entry.http, { path: '/secret' });
    await eventually(async () => expect(paths(await list(third, id))).toEqual(['/secret']));
    const [{ id: requestId }] = (await list(third, id)).nodes;
    const single = 'query ($id: ID!) { capturedRequest(id: $id) { id } }';
    const member = await cluster.account.addOwner();
    const stranger = await owner.newAccount();
    for (const gateway of cluster.gateways) {
      expect(await list(gateway, id, '', member)).toBe('FORBIDDEN');
      expect(await ask(gateway, single, { id: requestId }, member)).toBe('FORBIDDEN');
      expect(await list(gateway, id, '', stranger)).toBe('NOT_FOUND');
      expect(await ask(gateway, single, { id: requestId }, stranger)).toBe('NOT_FOUND');
    }
  });

  test('who watches at one is told of what comes to the others', async () => {
    const { url, id } = await tunnel();
    await change(owner, 'startTrafficCapture', id, ', input: {}');
    const query = `subscription { requestCaptured(endpointId: "${id}") { url } }`;
    const watching = await subscribe(third.api, cluster.account.key, query);
    onTestFinished(() => watching.close());
    let told: { data: { requestCaptured: { url: string } } } | undefined;
    void watching.next().then((event) => {
      told = event;
    });
    await eventually(async () => {
      await visit(url, entry.http, { path: '/seen' });
      expect(told?.data.requestCaptured.url).toMatch(/\/seen$/);
    });
  });

  test('it goes on at the node to which the agent comes back, and each node knows which captures run', async () => {
    const domain = 'wandering.tunnel.localhost';
    const port = await service((request, response) => void request.pipe(response));
    const endpointOf = async () => {
      const { nodes } = await ask(entry, '{ endpoints { nodes { id publicUrl nodeId } } }', {});
      return nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl.includes(domain));
    };
    const first = await agentAt(owner, cluster.account);
    await serve(first, port, { domain });
    const before = await endpointOf();
    await change(entry, 'startTrafficCapture', before.id, ', input: {}');
    const running = async (gateway: TestGateway) => {
      const { nodes } = await ask(
        gateway,
        '{ runningCaptures { nodes { state publicUrl endpoint { id } startedBy } } }',
        {},
      );
      return nodes.find(({ publicUrl }: { publicUrl: string }) => publicUrl.includes(domain));
    };
    const startedBy = cluster.account.ownerId;
    for (const gateway of cluster.gateways)
      expect(await running(gateway)).toMatchObject({ state: 'RECORDING', endpoint: { id: before.id }, startedBy });
    first.client.close();
    await eventually(async () => {
      for (const gateway of cluster.gateways)
        expect(await running(gateway)).toMatchObject({ state: 'WAITING', endpoint: null });
    });

    const url = await serve(await agentAt(third, cluster.account), port, { domain });
    const after = await endpointOf();
    expect(after.nodeId).not.toBe(before.nodeId);
    for (const [i, gateway] of cluster.gateways.entries()) await visit(url, gateway.http, { path: `/${i}` });
    for (const gateway of cluster.gateways) {
      await eventually(async () => expect(paths(await list(gateway, after.id))).toEqual(['/2', '/1', '/0']));
      expect(await running(gateway)).toMatchObject({ state: 'RECORDING', endpoint: { id: after.id } });
    }
    const stranger = await owner.newAccount();
    expect(await ask(third, '{ runningCaptures { nodes { id } } }', {}, stranger)).toEqual({ nodes: [] });
  });

  test('a node that joins later captures what comes to it', async () => {
    const { url, id } = await tunnel();
    await change(owner, 'startTrafficCapture', id, ', input: {}');
    const late = await startTestGateway(nodeEnvironment(3), { place: cluster.place });
    onTestFinished(() => late.close());
    await visit(url, late.http, { path: '/late' });
    await eventually(async () => expect(paths(await list(owner, id))).toEqual(['/late']));
  });
});

// Requests to endpoints, captured and looked at through GraphQL: what is shown, to whom, and what never is.

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { newEdge, visitEdge } from '../../live/edges/support.ts';
import type { Owner } from '../../support/gateway/gateway.ts';
import { type CaptureLab, captureOperation, REQUEST, SECRETS, startCaptureLab } from './lab.ts';

let lab: CaptureLab;
beforeAll(async () => {
  lab = await startCaptureLab();
});
afterAll(() => lab?.close());

describe('a capture', () => {
  test('is off until it is started; then every request is there, the newest first', async () => {
    const tunnel = await lab.tunnel();
    await lab.visit(tunnel, '/before');
    expect(await lab.state(tunnel.id)).toEqual({
      isOn: false,
      kept: 0,
      passed: 0,
      forgotten: 0,
      keptBytes: 0,
      endsAt: null,
    });
    const began = Date.now();
    const started = await lab.start(tunnel.id, { bodyBytes: 3, redactHeaders: ['X-Own'], minutes: 5 });
    expect(started).toMatchObject({
      endpointId: tunnel.id,
      isOn: true,
      bodyBytes: 3,
      redactedHeaders: ['authorization', 'proxy-authorization', 'cookie', 'set-cookie', 'x-api-key', 'x-own'],
    });
    expect(Math.abs(Date.parse(started.endsAt) - began - 300_000)).toBeLessThan(10_000);
    await lab.visit(tunnel, '/first?q=1', { method: 'POST', body: 'asked', headers: SECRETS });
    await lab.visit(tunnel, '/teapot');
    const [second, first] = await lab.requests(tunnel.id);
    expect(second).toMatchObject({ method: 'GET', path: '/teapot', status: 418, replayOf: null });
    expect(first).toMatchObject({
      id: expect.stringMatching(/^cap_/),
      endpointId: tunnel.id,
      operationId: null,
      clientIp: '127.0.0.1',
      isTls: false,
      httpVersion: 'HTTP/1.1',
      method: 'POST',
      url: `http://${tunnel.name}/first?q=1`,
      path: '/first?q=1',
      status: 200,
      isComplete: true,
      refusal: null,
      requestBody: { bytes: 5, keptBytes: 3, isWhole: false, base64: 'YXNr', text: 'ask' },
      responseBody: { bytes: 7, keptBytes: 3, isWhole: false, base64: 'aGVs', text: 'hel' },
    });
    expect(await lab.state(tunnel.id)).toMatchObject({ isOn: true, kept: 2, passed: 2, forgotten: 0 });
    expect(await lab.run(`query ($id: ID!) { capturedRequest(id: $id) { ${REQUEST} } }`, { id: first.id })).toEqual(
      first,
    );
  });

  test('is listed among those that are on until it is stopped, and another account sees none', async () => {
    const [one, other] = [await lab.tunnel(), await lab.tunnel()];
    await lab.start(one.id, { minutes: 9 });
    await lab.start(other.id, { minutes: 3 });
    const running = async (owner?: Owner) => {
      const { nodes } = await lab.run('{ runningCaptures { nodes { endpoint { id } endsAt } } }', {}, owner);
      return nodes.map(({ endpoint }: { endpoint: { id: string } }) => endpoint.id);
    };
    const ids = [other.id, one.id];
    expect((await running()).filter((id: string) => ids.includes(id))).toEqual(ids);
    await lab.run(captureOperation('stopTrafficCapture'), { id: other.id });
    expect((await running()).filter((id: string) => ids.includes(id))).toEqual([one.id]);
    const stranger = await lab.gateway.newAccount();
    expect(await running(stranger)).toEqual([]);
  });

  test('pages, stops, clears', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id);
    for (const path of ['/1', '/2', '/3']) await lab.visit(tunnel, path);
    const page = (after: string | null) =>
      lab.run(
        `query ($id: ID!, $after: String) { capturedRequests(endpointId: $id, first: 2, after: $after) {
          nodes { path } pageInfo { hasNextPage endCursor } } }`,
        { id: tunnel.id, after },
      );
    const first = await page(null);
    expect(first).toMatchObject({ nodes: [{ path: '/3' }, { path: '/2' }], pageInfo: { hasNextPage: true } });
    expect(await page(first.pageInfo.endCursor)).toMatchObject({
      nodes: [{ path: '/1' }],
      pageInfo: { hasNextPage: false },
    });
    const backwards = (args: string) =>
      lab.run(
        `query ($id: ID!) { capturedRequests(endpointId: $id, ${args}) {
          totalCount edges { cursor node { path } } pageInfo { hasPreviousPage startCursor } } }`,
        { id: tunnel.id },
      );
    const last = await backwards('last: 1');
    expect(last).toMatchObject({
      totalCount: 3,
      edges: [{ node: { path: '/1' } }],
      pageInfo: { hasPreviousPage: true },
    });
    expect(last.edges[0].cursor).toBe(last.pageInfo.startCursor);
    expect(await backwards(`last: 5, before: "${last.pageInfo.startCursor}"`)).toMatchObject({
      ...{ edges: [{ node: { path: '/3' } }, { node: { path: '/2' } }], pageInfo: { hasPreviousPage: false } },
    });
    expect(await lab.run(captureOperation('stopTrafficCapture'), { id: tunnel.id })).toMatchObject({
      isOn: false,
      kept: 3,
      endsAt: null,
    });
    await lab.visit(tunnel, '/4');
    expect(await lab.run(captureOperation('clearTrafficCapture'), { id: tunnel.id })).toMatchObject({
      kept: 0,
      passed: 3,
    });
    expect(await lab.requests(tunnel.id)).toEqual([]);
  });

  test('pages on past what is pushed out between two pages, and while a page is read', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id);
    for (const path of ['/1', '/2', '/3']) await lab.visit(tunnel, path);
    const { clusterCaptures } = lab.gateway.app.nodeCaptures();
    const look = clusterCaptures.look.bind(clusterCaptures);
    const gone = { id: newId('cap'), endpointId: tunnel.id, nodeId: '' };
    const spy = vi.spyOn(clusterCaptures, 'look').mockImplementationOnce(async (target) => {
      const looked = await look(target);
      return { ...looked, requests: [gone, ...looked.requests] };
    });
    onTestFinished(() => spy.mockRestore());
    const seen: string[] = [];
    for (let after: string | null = null, hasMore = true; hasMore; ) {
      const { nodes, pageInfo } = await lab.run(
        `query ($id: ID!, $after: String) { capturedRequests(endpointId: $id, first: 2, after: $after) {
          nodes { path } pageInfo { hasNextPage endCursor } } }`,
        { id: tunnel.id, after },
      );
      seen.push(...nodes.map(({ path }: { path: string }) => path));
      after = pageInfo.endCursor;
      hasMore = pageInfo.hasNextPage;
    }
    expect(seen).toEqual(['/3', '/2', '/1']);
  });

  test('of an edge’s endpoint, over TLS, with the module that refused', async () => {
    const modules = { user_agent_filter: { deny: ['bad'] } };
    const edge = await newEdge(lab.account, { labels: { app: 'captured' }, modules });
    await lab.session.labeledListener().label('app', 'captured').listenAndForward(lab.upstream);
    const id = await lab.endpointId(edge.name);
    await lab.start(id, { bodyBytes: 1000 });
    await visitEdge(lab.gateway, edge, '/in', { headers: { 'user-agent': 'good' } });
    const refused = await visitEdge(lab.gateway, edge, '/out', { headers: { 'user-agent': 'bad' } });
    const [out, into] = await lab.requests(id);
    expect(into).toMatchObject({
      path: '/in',
      isTls: true,
      status: 200,
      refusal: null,
      responseBody: { text: 'hello 0' },
    });
    expect(out).toMatchObject({
      path: '/out',
      status: 403,
      operationId: refused.headers['service-operation-id'],
      refusal: { module: 'user_agent_filter', reason: expect.stringMatching(/./) },
      responseBody: { text: refused.body },
    });
  });

  test('texts are decoded of their compression, and what is no text is none', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id, { bodyBytes: 100_000 });
    const long = 'läng '.repeat(10_000);
    const post = (body: Buffer, coding?: string) =>
      lab.visit(tunnel, '/', { method: 'POST', body, headers: coding ? { 'content-encoding': coding } : {} });
    await post(gzipSync(long), 'gzip');
    await post(Buffer.from([0xff, 0xfe, 0x00]));
    await post(Buffer.from('no gzip'), 'gzip');
    await post(gzipSync(Buffer.alloc(50_000_000)), 'gzip');
    const texts = (await lab.requests(tunnel.id)).map(({ requestBody }) => requestBody.text);
    expect(texts.slice(1, 3)).toEqual([null, null]);
    expect(texts[3] === long).toBe(true);
    expect(texts[0] === '\0'.repeat(1024 * 1024)).toBe(true);
  });
});

test.each([
  [{ bodyBytes: 1_048_577 }, 'ERR_GATEWAY_90232', 'bodyBytes'],
  [{ bodyBytes: -1 }, 'ERR_GATEWAY_90232', 'bodyBytes'],
  [{ minutes: 0 }, 'ERR_GATEWAY_90233', 'minutes'],
  [{ minutes: 1441 }, 'ERR_GATEWAY_90233', 'minutes'],
  [{ redactHeaders: Array(101).fill('x') }, 'ERR_GATEWAY_90234', 'redactHeaders'],
  [{ redactHeaders: ['ok', 'not ok'] }, 'ERR_GATEWAY_90235', 'redactHeaders[1]'],
])('%j is refused', async (input, errorCode, field) => {
  await expect(lab.start(newId('ep'), input)).rejects.toMatchObject({ errorCode, field, code: 'BAD_USER_INPUT' });
});

test('only requests are captured: of TCP there are none', async () => {
  const listener = await lab.session.tcpEndpoint().listenAndForward(lab.upstream.replace('http:', 'tcp:'));
  const port = new URL(String(listener.url())).port;
  const { endpoints } = (await lab.account.call('GET', '/endpoints')).body;
  const { id } = endpoints.find(({ hostport }: { hostport: string }) => hostport.endsWith(`:${port}`));
  await expect(lab.start(id)).rejects.toMatchObject({ code: 'CONFLICT', errorCode: 'ERR_GATEWAY_90231' });
  expect(await lab.state(id)).toMatchObject({ isOn: false });
});

test('a reader who does not read gets the newest; the traffic goes on', async () => {
  const tunnel = await lab.tunnel();
  await lab.start(tunnel.id);
  const { clusterCaptures } = lab.gateway.app.nodeCaptures();
  const target = { accountId: lab.account.accountId, address: `http:${tunnel.name}` } as const;
  const watch = await import('../../../src/api/resources/capture/watch-requests.ts');
  const stop = new AbortController();
  const reader = watch.watchRequests(clusterCaptures, target, () => true, stop.signal);
  const first = reader.next();
  for (let n = 0; n <= 130; n++) await lab.visit(tunnel, `/${n}`);
  const paths = [(await first).value?.target];
  for (let n = 0; n < 100; n++) paths.push((await reader.next()).value?.target);
  expect(paths).toEqual(['/0', ...Array.from({ length: 100 }, (_, n) => `/${n + 31}`)]);
  stop.abort();
  expect((await reader.next()).done).toBe(true);
});

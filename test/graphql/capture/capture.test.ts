// Requests to endpoints, captured and looked at through GraphQL: what is shown, to whom, and what never is.

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../src/store/ids.ts';
import { newEdge, newName, visitEdge } from '../../live/edges/support.ts';
import { bound, leaveTo, nameRequest, newCredential, openSession } from '../../support/agents/live.ts';
import { type CaptureLab, captureOperation, REQUEST, startCaptureLab } from './lab.ts';

let lab: CaptureLab;
beforeAll(async () => {
  lab = await startCaptureLab();
});
afterAll(() => lab?.close());

const SECRETS = {
  authorization: 'Bearer top-secret-1',
  cookie: 'a=top-secret-2',
  'x-api-key': 'top-secret-3',
  'x-own': 'top-secret-4',
};
const state = (id: string) =>
  lab.run('query ($id: ID!) { trafficCapture(endpointId: $id) { isOn kept passed forgotten keptBytes endsAt } }', {
    id,
  });

describe('a capture', () => {
  test('is off until it is started; then every request is there, the newest first', async () => {
    const tunnel = await lab.tunnel();
    await lab.visit(tunnel, '/before');
    expect(await state(tunnel.id)).toEqual({
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
    expect(await state(tunnel.id)).toMatchObject({ isOn: true, kept: 2, passed: 2, forgotten: 0 });
    expect(await lab.run(`query ($id: ID!) { capturedRequest(id: $id) { ${REQUEST} } }`, { id: first.id })).toEqual(
      first,
    );
  });

  test('pages, stops, clears', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id);
    for (const path of ['/1', '/2', '/3']) await lab.visit(tunnel, path);
    const page = (after: string | null) =>
      lab.run(
        `query ($id: ID!, $after: ID) { capturedRequests(endpointId: $id, first: 2, after: $after) {
          nodes { path } pageInfo { hasNextPage endCursor } } }`,
        { id: tunnel.id, after },
      );
    const first = await page(null);
    expect(first).toMatchObject({ nodes: [{ path: '/3' }, { path: '/2' }], pageInfo: { hasNextPage: true } });
    expect(await page(first.pageInfo.endCursor)).toMatchObject({
      nodes: [{ path: '/1' }],
      pageInfo: { hasNextPage: false },
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

describe('secrets', () => {
  test('are in no answer, no subscription, no replay and no log; the service gets them again', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id, { bodyBytes: 1000, redactHeaders: ['X-Own', 'x-token'] });
    const stream = await lab.watch(tunnel.id);
    await lab.visit(tunnel, '/secrets', { headers: SECRETS });
    const told = JSON.stringify(await stream.next());
    expect(told).toContain('/secrets');
    expect(told).not.toContain('top-secret');
    const [request] = await lab.requests(tunnel.id);
    for (const name of Object.keys(SECRETS))
      expect(request.requestHeaders).toContainEqual({ name, value: '', isRedacted: true });
    for (const name of ['Set-Cookie', 'X-Token'])
      expect(request.responseHeaders).toContainEqual({ name, value: '', isRedacted: true });
    lab.asked.length = 0;
    const replay = await lab.replay(request.id);
    expect(replay.headers).toContainEqual({ name: 'X-Token', value: '', isRedacted: true });
    expect(JSON.stringify(await stream.next())).not.toContain('top-secret');
    for (const value of Object.values(SECRETS)) expect(lab.asked[0]?.headers).toContain(value);
    await expect(lab.replay(request.id, { headers: [{ name: 'x-none' }] })).rejects.toThrow('x-none');
    expect(lab.gateway.logs.filter((line) => line.includes('top-secret'))).toEqual([]);
  });
});

describe('whose it is', () => {
  test('members may do all of it', async () => {
    const tunnel = await lab.tunnel();
    const member = await lab.account.addOwner();
    const id = tunnel.id;
    const input = { bodyBytes: 10 };
    await lab.run(captureOperation('startTrafficCapture', ', input: $input'), { id, input }, member);
    await lab.visit(tunnel, '/member');
    const [request] = await lab.requests(id);
    expect(await lab.replay(request.id, {}, member)).toMatchObject({ status: 200 });
    for (const name of ['stopTrafficCapture', 'clearTrafficCapture'])
      expect(await lab.run(captureOperation(name), { id }, member)).toMatchObject({ isOn: false });
  });

  test('another account finds nothing', async () => {
    const tunnel = await lab.tunnel();
    await lab.start(tunnel.id);
    await lab.visit(tunnel, '/mine');
    const [request] = await lab.requests(tunnel.id);
    const stranger = await lab.gateway.newAccount();
    const notFound = { code: 'NOT_FOUND' };
    for (const id of [tunnel.id, newId('ep'), 'nonsense']) {
      for (const name of ['stopTrafficCapture', 'clearTrafficCapture'])
        await expect(lab.run(captureOperation(name), { id }, stranger)).rejects.toMatchObject(notFound);
      const start = captureOperation('startTrafficCapture', ', input: $input');
      await expect(lab.run(start, { id, input: {} }, stranger)).rejects.toMatchObject(notFound);
      const list = 'query ($id: ID!) { capturedRequests(endpointId: $id) { nodes { id } } }';
      await expect(lab.run(list, { id }, stranger)).rejects.toMatchObject(notFound);
    }
    const one = 'query ($id: ID!) { capturedRequest(id: $id) { id } }';
    await expect(lab.run(one, { id: request.id }, stranger)).rejects.toMatchObject(notFound);
    await expect(lab.replay(request.id, {}, stranger)).rejects.toMatchObject(notFound);
    expect(await state(tunnel.id)).toMatchObject({ isOn: true, kept: 1 });
  });

  test('what another node serves is to be asked of that one', async () => {
    const credential = await newCredential(lab.account);
    const sessionId = await openSession(lab.gateway, credential);
    const { endpointId } = bound(await lab.gateway.registrar.bind(nameRequest(sessionId, newName('elsewhere'))));
    await leaveTo(lab.gateway, sessionId, Date.now() + 60_000);
    await expect(lab.start(endpointId)).rejects.toMatchObject({ code: 'UNAVAILABLE', errorCode: 'ERR_GATEWAY_90230' });
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
  expect(await state(id)).toMatchObject({ isOn: false });
});

test('a reader who does not read gets the newest; the traffic goes on', async () => {
  const tunnel = await lab.tunnel();
  await lab.start(tunnel.id);
  const { clusterCaptures } = lab.gateway.app.nodeCaptures();
  const watch = await import('../../../src/api/resources/capture/watch-requests.ts');
  const stop = new AbortController();
  const reader = watch.watchRequests(clusterCaptures, tunnel.id, () => true, stop.signal);
  const first = reader.next();
  for (let n = 0; n <= 130; n++) await lab.visit(tunnel, `/${n}`);
  const paths = [(await first).value?.target];
  for (let n = 0; n < 100; n++) paths.push((await reader.next()).value?.target);
  expect(paths).toEqual(['/0', ...Array.from({ length: 100 }, (_, n) => `/${n + 31}`)]);
  stop.abort();
  expect((await reader.next()).done).toBe(true);
});

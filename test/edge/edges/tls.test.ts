import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EndpointRules } from '../../../src/edge/pipeline/rules/endpoint-rules.ts';
import { noopStreamEvents } from '../../../src/protocol/mux/mux-stream.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { connectionOf, exchangeOf } from '../../policy/exchange-support.ts';
import { type Agent, startAgent } from '../tls/agent.ts';
import { httpsEdge, labelled, route, startEdges, tlsEdge } from './support.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(() => agent.session.destroy(0, 'the end'));

const NAME = 'app.example.com';
const visitor = { ip: '203.0.113.7', port: 50_123, local: { ip: '127.0.0.1', port: 443 }, passthrough: false };
const mutualTls = { enabled: true, authorities: [{ id: 'ca_1', pem: 'pem' }] };
const termination = (terminateAt: 'edge' | 'upstream', enabled = true) =>
  ({ enabled, terminateAt, minVersion: '1.3' }) as const;

const handlingAt = (endpoint: LiveEndpoint | undefined) => endpoint?.rules as EndpointRules;

describe('who ends the TLS of a TLS edge', () => {
  test.each([
    ['without a module: the agent', {}, 'passthrough', undefined],
    [
      'with a module that says so: the agent',
      { modules: { tlsTermination: termination('upstream') } },
      'passthrough',
      undefined,
    ],
    [
      'with a module that says so: the gateway',
      { modules: { tlsTermination: termination('edge') } },
      'gateway',
      'TLSv1.3',
    ],
    [
      'with one that is off: the agent',
      { modules: { tlsTermination: termination('edge', false) } },
      'passthrough',
      undefined,
    ],
    ['with mutual TLS: the gateway', { modules: { mutualTls } }, 'gateway', 'TLSv1.2'],
    [
      'with mutual TLS that is off: the agent',
      { modules: { mutualTls: { ...mutualTls, enabled: false } } },
      'passthrough',
      undefined,
    ],
  ])('%s', async (_, more, tls, minVersion) => {
    const { at } = await startEdges({ edges: [tlsEdge('e1', NAME, more)] });
    const endpoint = at(NAME);
    expect(endpoint?.tls).toBe(tls);
    expect(handlingAt(endpoint).tls?.minVersion).toBe(minVersion);
  });
});

test('the connections of a TLS edge go to its tunnels in turn, and nowhere without one', async () => {
  const { endpoints, at, configured, changed } = await startEdges({ edges: [tlsEdge('e1', NAME)] });
  const open = () => at(NAME)?.open(visitor, noopStreamEvents);
  expect(await open()).toBe('offline');
  for (const id of ['tn_1', 'tn_2']) endpoints.labelled.add(labelled(agent.session, id, { app: 'web' }));
  for (let count = 0; count < 4; count++) expect(await open()).toBeTypeOf('object');
  await expect
    .poll(() => agent.headers.map(({ tunnelId }) => tunnelId).sort())
    .toEqual(['tn_1', 'tn_1', 'tn_2', 'tn_2']);
  const before = at(NAME);
  configured.edges = [tlsEdge('e1', NAME, { backend: { enabled: false, labels: { app: 'web' } } })];
  await changed();
  expect(await open()).toBe('offline');
  expect(await before?.open(visitor, noopStreamEvents)).toBe('offline');
});

describe('the terms of TLS', () => {
  const termsAt = (endpoint: LiveEndpoint | undefined) => handlingAt(endpoint).tls;

  test('of an edge that says nothing are those of everywhere', async () => {
    const { at } = await startEdges({ edges: [httpsEdge('e1', NAME)] });
    expect(termsAt(at(NAME))).toBeUndefined();
  });

  test('stay the very same when something else changes, and are others when they change', async () => {
    const { at, configured, changed } = await startEdges({
      edges: [httpsEdge('e1', NAME, { modules: { mutualTls } })],
    });
    const before = termsAt(at(NAME));
    expect(before).toEqual({
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.3',
      clientAuthorities: ['pem'],
      clientVerification: 'require-and-verify',
    });
    configured.edges = [httpsEdge('e1', NAME, { modules: { mutualTls }, routes: [route('r9', '/new')] })];
    await changed();
    expect(termsAt(at(NAME))).toBe(before);
    const other = { enabled: true, authorities: [...mutualTls.authorities, { id: 'ca_2', pem: 'other' }] };
    configured.edges = [httpsEdge('e1', NAME, { modules: { mutualTls: other } })];
    await changed();
    expect(termsAt(at(NAME))?.clientAuthorities).toEqual(['pem', 'other']);
  });

  test('make the names in certificates the gateway’s to tell', async () => {
    const { routeOf } = await startEdges({ edges: [httpsEdge('e1', NAME, { modules: { mutualTls } })] });
    const exchange = exchangeOf({ fields: { 'gateway-mtls-subject-cn': 'forged', accept: '*/*' } });
    const found = routeOf(NAME);
    if (typeof found === 'object') found.chain?.request(exchange, { passed: 0 });
    expect(exchange.request.fields.list).toEqual([['accept', '*/*']]);
  });
});

describe('what cannot be served as it is configured', () => {
  const bad = { trafficPolicy: { enabled: true, value: 'on_http_request: 7' } };
  const verdictOf = (found: object | string) =>
    (found as { chain: { request(...about: unknown[]): unknown } }).chain.request(exchangeOf(), { passed: 0 });
  const refusal = {
    module: { name: 'edge' },
    verdict: { kind: 'refuse', error: 'moduleFailed', reason: expect.stringContaining('as it is configured') },
  };

  test('is one route: its visitors are turned away, the others’ are not', async () => {
    const { routeOf, broken } = await startEdges({
      edges: [httpsEdge('e1', NAME, { routes: [route('r1', '/'), route('r2', '/bad', { modules: bad })] })],
    });
    expect(verdictOf(routeOf(NAME, '/bad'))).toMatchObject(refusal);
    expect(routeOf(NAME, '/good')).toMatchObject({ chain: undefined });
    expect(broken).toEqual([expect.stringContaining('r2: ')]);
  });

  test('is a route whose secret cannot be read, or an edge that lets in everybody’s certificate', async () => {
    const open = { mutualTls: { enabled: true, authorities: [] } };
    const { routeOf } = await startEdges({
      edges: [
        httpsEdge('e1', NAME, { routes: [route('r1', '/', { failure: 'no such key' })] }),
        httpsEdge('e2', 'other.example.com', { modules: open }),
      ],
    });
    expect(verdictOf(routeOf(NAME))).toMatchObject(refusal);
    expect(verdictOf(routeOf('other.example.com'))).toMatchObject(refusal);
    expect(verdictOf(routeOf('other.example.com', '/whatever'))).toMatchObject(refusal);
  });

  test('is a TLS edge: its visitors’ connections are closed', async () => {
    const { at, broken } = await startEdges({ edges: [tlsEdge('e1', NAME, { modules: bad })] });
    const [module, ...more] = handlingAt(at(NAME)).connection;
    expect(more).toEqual([]);
    expect(await module?.onConnection(connectionOf())).toMatchObject({ kind: 'close' });
    expect(broken).toEqual([expect.stringContaining('e1: ')]);
  });
});

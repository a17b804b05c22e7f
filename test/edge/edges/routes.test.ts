import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LiveRoute } from '../../../src/edge/edges/https-edge.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { exchangeOf } from '../../policy/exchange-support.ts';
import { type Agent, startAgent } from '../tls/agent.ts';
import { ACCOUNT, httpsEdge, labelled, route, startEdges, tlsEdge } from './support.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(() => agent.session.destroy(0, 'the end'));

const breaking = {
  circuitBreaker: {
    enabled: true,
    trippedDuration: 60,
    rollingWindow: 60,
    numBuckets: 2,
    volumeThreshold: 1,
    errorThresholdPercentage: 0.5,
  },
};

/** Lets a request of a route fail. */
function fail(live: LiveRoute | string): void {
  const { chain } = live as LiveRoute;
  const passage = { passed: 0 };
  const exchange = exchangeOf();
  chain?.request(exchange, passage);
  chain?.settle(exchange, passage, 'failed');
}

describe('the name of an edge', () => {
  test('is found where those of tunnels are, and the most specific one wins, whoever serves it', async () => {
    const { endpoints, at } = await startEdges({
      edges: [httpsEdge('e1', '*.example.com'), tlsEdge('e2', 'exact.example.com'), httpsEdge('e3', 'a.b.example.com')],
    });
    endpoints.add(agent.tunnel('one.example.com', 1));
    endpoints.add(agent.tunnel('*.b.example.com', 1));
    expect(at('any.example.com')?.id).toBe('ep_e1');
    expect(at('exact.example.com')).toMatchObject({ id: 'ep_e2', proto: 'tls' });
    expect(at('one.example.com')?.tunnelId).toMatch(/^tn_/);
    expect(at('c.b.example.com')?.tunnelId).toMatch(/^tn_/);
    expect(at('a.b.example.com')).toMatchObject({ id: 'ep_e3', proto: 'https', accountId: ACCOUNT });
    expect(at('example.com')).toBeUndefined();
    expect(at('a.b.example.com')?.publicUrl).toBe('https://a.b.example.com:8443');
  });

  test('goes with the edge, and from one edge to another', async () => {
    const { configured, changed, at } = await startEdges({ edges: [httpsEdge('e1', 'app.example.com')] });
    const before = at('app.example.com');
    configured.edges = [httpsEdge('e2', 'app.example.com')];
    await changed();
    expect(before?.isOpen).toBe(false);
    expect(at('app.example.com')).toMatchObject({ id: 'ep_e2', isOpen: true });
    expect(at('app.example.com')).toBe(at('app.example.com'));
    configured.edges = [];
    await changed();
    expect(at('app.example.com')).toBeUndefined();
  });

  test('is not left with the edge that lost it, of which word comes later', async () => {
    const { configured, changed, at } = await startEdges({
      edges: [httpsEdge('e1', 'app.example.com'), httpsEdge('e2', 'old.example.com')],
    });
    const before = at('app.example.com');
    configured.edges = [httpsEdge('e1', 'new.example.com'), tlsEdge('e2', 'app.example.com')];
    await changed(['e2']);
    expect(before?.isOpen).toBe(false);
    expect([at('app.example.com'), at('app.example.com')].map((endpoint) => endpoint?.proto)).toEqual(['tls', 'tls']);
    expect(at('new.example.com')?.id).toBe('ep_e1');
    expect(at('old.example.com')).toBeUndefined();
    await changed(['e1']);
    expect(at('app.example.com')?.proto).toBe('tls');
  });

  test('stays when another account changes something', async () => {
    const { configured, changed, at } = await startEdges({ edges: [httpsEdge('e1', 'app.example.com')] });
    const before = at('app.example.com');
    configured.edges = [httpsEdge('e2', 'other.example.com', { accountId: 'ac_2' })];
    await changed(['ac_2']);
    expect(at('app.example.com')).toBe(before);
    expect(at('other.example.com')?.accountId).toBe('ac_2');
  });
});

describe('the route of a request', () => {
  const routes = [
    route('root', '/'),
    route('api', '/api'),
    route('users', '/api/users'),
    route('exact', '/api/users/1', { matchType: 'exact_path' }),
    route('accent', '/é/'),
  ];
  test.each([
    ['/', 'root'],
    ['/other', 'root'],
    ['/api', 'api'],
    ['/apiary?x=/api/users', 'api'],
    ['/api/users', 'users'],
    ['/api/users/1', 'exact'],
    ['/api/users/1?q=1', 'exact'],
    ['/api/users/12', 'users'],
    ['/API/users', 'root'],
    ['/%61pi/users', 'users'],
    ['/other/../api/./users', 'users'],
    ['/%C3%A9/x', 'accent'],
  ])('to %s is %s: exact paths first, then the longest beginning', async (target, expected) => {
    const { edges, routeOf } = await startEdges({
      edges: [httpsEdge('e1', 'app.example.com', { routes: routes.map((one) => ({ ...one, modules: breaking })) })],
    });
    fail(routeOf('app.example.com', target));
    expect(routes.filter(({ id }) => edges.breaker(id)?.failures === 1).map(({ id }) => id)).toEqual([expected]);
  });

  test('leads nowhere without a route, a backend that is on, or a tunnel of it that is live; else to one in turn', async () => {
    const { endpoints, at, routeOf } = await startEdges({
      edges: [
        httpsEdge('e1', 'app.example.com', {
          routes: [
            route('r1', '/web'),
            route('r2', '/none', { backend: undefined }),
            route('r3', '/off', { backend: { enabled: false, labels: { app: 'web' } } }),
          ],
        }),
      ],
    });
    const upstream = (target: string) => {
      const found = routeOf('app.example.com', target);
      return typeof found === 'string' ? found : found.upstream(at('app.example.com') as LiveEndpoint);
    };
    expect(['/', '/web', '/none', '/off', '*'].map(upstream)).toEqual([
      'noRoute',
      'backendOffline',
      'noBackend',
      'noBackend',
      'noRoute',
    ]);
    const tunnels = ['tn_1', 'tn_2'].map((id) => labelled(agent.session, id, { app: 'web', more: 'x' }));
    for (const tunnel of tunnels) endpoints.labelled.add(tunnel);
    expect(new Set([upstream('/web'), upstream('/web')])).toEqual(
      new Set(tunnels.map((tunnel) => tunnel.endpointFor('https'))),
    );
  });

  test('without modules has no chain to pass', async () => {
    const { routeOf } = await startEdges({ edges: [httpsEdge('e1', 'app.example.com')] });
    expect(routeOf('app.example.com')).toMatchObject({ chain: undefined, convertsWebsockets: false });
  });
});

describe('when an edge changes', () => {
  const changing = async () => {
    const routes = [route('r1', '/', { modules: breaking }), route('r2', '/other', { modules: breaking })];
    const started = await startEdges({ edges: [httpsEdge('e1', 'app.example.com', { routes })] });
    for (const target of ['/', '/other']) fail(started.routeOf('app.example.com', target));
    const write = (more: object) => {
      started.configured.edges = [httpsEdge('e1', 'app.example.com', { routes, ...more })];
      return started.changed();
    };
    return { ...started, routes, write };
  };

  test('its unchanged routes keep their circuit breakers, and the changed ones begin anew', async () => {
    const { edges, routes, write, at, routeOf } = await changing();
    const [before, kept] = [at('app.example.com'), routeOf('app.example.com')];
    expect(edges.breaker('r1')).toMatchObject({ state: 'open', failures: 1 });
    const backend = { enabled: true, labels: { app: 'new' } };
    await write({ routes: [routes[0], route('r2', '/other', { modules: breaking, backend })] });
    expect(before?.isOpen).toBe(false);
    expect(at('app.example.com')?.isOpen).toBe(true);
    expect(routeOf('app.example.com')).toBe(kept);
    expect(edges.breaker('r1')?.state).toBe('open');
    expect(edges.breaker('r2')).toMatchObject({ state: 'closed', failures: 0 });
    await write({ routes: [routes[1]] });
    expect(edges.breaker('r1')).toBeUndefined();
  });

  test('nothing of one that did not is made anew', async () => {
    const { changed, at, routeOf } = await changing();
    const before = [at('app.example.com'), routeOf('app.example.com')];
    await changed(null);
    expect([at('app.example.com'), routeOf('app.example.com')]).toEqual(before);
    expect(at('app.example.com')).toBe(before[0]);
  });

  test('a breaker that is switched off is none', async () => {
    const { edges, write } = await changing();
    const off = { circuitBreaker: { ...breaking.circuitBreaker, enabled: false } };
    await write({ routes: [route('r1', '/', { modules: off })] });
    expect(edges.breaker('r1')).toBeUndefined();
    expect(edges.breaker('nobody')).toBeUndefined();
  });
});

test('a certificate of the gateway’s own names is shown until it expires', async () => {
  const own = { domainId: 'cert_1', accountId: '', cert: 'own', key: 'key' };
  const { edges } = await startEdges({
    certificates: [
      { ...own, domain: 'valid.example.com', notAfter: Date.now() + 60_000 },
      { ...own, domain: 'expired.example.com', notAfter: Date.now() - 1 },
      // As the control process of a version before has them, which does not tell.
      { ...own, domain: 'unknown.example.com' },
    ],
  });
  expect(edges.ownCertificateFor('valid.example.com')?.cert).toBe('own');
  expect(edges.ownCertificateFor('expired.example.com')).toBeUndefined();
  expect(edges.ownCertificateFor('unknown.example.com')?.cert).toBe('own');
});

describe('the certificate that was uploaded for a name', () => {
  const pair = (domain: string, cert = domain) => ({
    domainId: `rd_${domain}`,
    accountId: ACCOUNT,
    domain,
    cert,
    key: 'key',
    notAfter: Date.now() + 60_000,
  });

  test('is that of the very name, else that of the wildcard one label above', async () => {
    const { edges } = await startEdges({ certificates: [pair('a.example.com'), pair('*.example.com')] });
    expect(edges.certificateFor('a.example.com')?.cert).toBe('a.example.com');
    expect(edges.certificateFor('b.example.com')?.cert).toBe('*.example.com');
    expect(edges.certificateFor('c.b.example.com')).toBeUndefined();
    expect(edges.certificateFor('example.com')).toBeUndefined();
  });

  test('is the same object as long as it is the same, another one then, and gone when it is detached', async () => {
    const { edges, configured, changed } = await startEdges({ certificates: [pair('a.example.com')] });
    const before = edges.certificateFor('a.example.com');
    await changed();
    expect(edges.certificateFor('a.example.com')).toBe(before);
    configured.certificates = [pair('a.example.com', 'renewed')];
    await changed();
    expect(edges.certificateFor('a.example.com')?.cert).toBe('renewed');
    configured.certificates = [];
    await changed(['ac_2']);
    expect(edges.certificateFor('a.example.com')).toBeDefined();
    await changed();
    expect(edges.certificateFor('a.example.com')).toBeUndefined();
  });
});

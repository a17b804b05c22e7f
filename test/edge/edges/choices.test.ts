// Backends that choose among others: by weight and in order, with chance in the hands of the test.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BackendConfig, BackendNode } from '../../../src/edge/edges/edge-config.ts';
import type { LiveRoute } from '../../../src/edge/edges/https-edge.ts';
import type { LiveEndpoint } from '../../../src/tunnel/endpoints/endpoint.ts';
import { type Agent, startAgent } from '../tls/agent.ts';
import { httpsEdge, labelled, route, startEdges, tlsEdge } from './support.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(() => agent.session.destroy(0, 'the end'));

const tunnels = (app: string): BackendNode => ({ kind: 'tunnels', labels: { app } });
const response = (body: string): BackendNode => ({ kind: 'response', status: 503, headers: {}, body });
const failover = (...members: string[]): BackendNode => ({ kind: 'failover', members });
const weighted = (weights: Record<string, number>): BackendNode => ({
  kind: 'weighted',
  members: Object.entries(weights).map(([id, weight]) => ({ id, weight })),
});

/** An edge whose route leads to the node `root`, where all tunnels of `online` are. Draws of chance are spread evenly over `draws` visits. */
async function visits(nodes: Record<string, BackendNode>, online: string[], draws = 1) {
  let drawn = 0;
  const backend: BackendConfig = { enabled: true, labels: { '': '' }, choice: { root: 'root', nodes } };
  const edges = [
    httpsEdge('e1', 'app.example.com', { routes: [route('r1', '/', { backend })] }),
    tlsEdge('e2', 'tls.example.com', { backend }),
  ];
  const { endpoints, routeOf, at } = await startEdges({ edges }, () => ((drawn++ % draws) + 0.5) / draws);
  const live = new Map(online.map((app) => [app, labelled(agent.session, `tn_${app}`, { app })]));
  for (const tunnel of live.values()) endpoints.labelled.add(tunnel);
  return {
    /** Who serves a visit: the app of a tunnel, the body of a response, or why nobody does. */
    async ask(): Promise<string> {
      const found = await (routeOf('app.example.com') as LiveRoute).upstream({} as LiveEndpoint);
      if (typeof found === 'string') return found;
      return 'kind' in found ? String(found.body) : found.tunnelId.replace('tn_', '');
    },
    tls: () => at('tls.example.com'),
    leave: (app: string) => endpoints.labelled.remove(live.get(app) as NonNullable<ReturnType<typeof live.get>>),
    come: (app: string) => endpoints.labelled.add(live.get(app) as NonNullable<ReturnType<typeof live.get>>),
  };
}

async function count(ask: () => Promise<string>, times: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let i = 0; i < times; i++) {
    const who = await ask();
    counts[who] = (counts[who] ?? 0) + 1;
  }
  return counts;
}

test('visits are shared out by weight, and a weight of 0 gets none', async () => {
  const nodes = { root: weighted({ a: 30, b: 10, c: 0 }), a: tunnels('a'), b: tunnels('b'), c: tunnels('c') };
  const { ask } = await visits(nodes, ['a', 'b', 'c'], 400);
  expect(await count(ask, 400)).toEqual({ a: 300, b: 100 });
});

test('the share of a backend that is offline goes to the others by their weights, never to a weight of 0', async () => {
  const nodes = {
    root: weighted({ a: 6, b: 3, c: 1, d: 0 }),
    a: tunnels('a'),
    b: tunnels('b'),
    c: tunnels('c'),
    d: tunnels('d'),
  };
  const { ask, leave } = await visits(nodes, ['b', 'c', 'd'], 1);
  // A draw of one half meets a, which is offline, and then b, which has more than half of what is left.
  expect(await ask()).toBe('b');
  leave('b');
  expect(await ask()).toBe('c');
  leave('c');
  expect(await ask()).toBe('backendOffline');
});

test('the first that is online serves, from the moment on in which it is', async () => {
  const nodes = {
    root: failover('a', 'mix', 'sorry'),
    a: tunnels('a'),
    mix: weighted({ b: 1, none: 0 }),
    b: tunnels('b'),
    none: tunnels('none'),
    sorry: response('closed'),
  };
  const { ask, leave, come } = await visits(nodes, ['a', 'b', 'none']);
  expect(await ask()).toBe('a');
  leave('a');
  expect(await ask()).toBe('b');
  leave('b');
  expect(await ask()).toBe('closed');
  come('a');
  expect(await ask()).toBe('a');
});

test('a circle of backends keeps no visit', async () => {
  const nodes = { root: failover('other', 'a'), other: weighted({ root: 1, other: 1 }), a: tunnels('a') };
  const { ask, leave } = await visits(nodes, ['a']);
  expect(await ask()).toBe('a');
  leave('a');
  expect(await ask()).toBe('backendOffline');
});

test('an edge of whole connections takes a response for offline', async () => {
  const { tls, leave } = await visits({ root: failover('sorry', 'a'), sorry: response('closed'), a: tunnels('a') }, [
    'a',
  ]);
  leave('a');
  expect(await tls()?.open({} as never, {} as never)).toBe('offline');
});

import { afterAll, beforeAll, expect, test } from 'vitest';
import { EdgeType } from '../../../src/protocol/messages/proxy-header.ts';
import { noopStreamEvents } from '../../../src/protocol/mux/mux-stream.ts';
import { EndpointRegistry } from '../../../src/tunnel/endpoints/endpoint-registry.ts';
import { type Agent, startAgent } from '../tls/agent.ts';
import { ACCOUNT, labelled } from './support.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
});
afterAll(() => agent.session.destroy(0, 'the end'));

const visitor = { ip: '203.0.113.7', port: 50_123, local: { ip: '127.0.0.1', port: 443 }, passthrough: false };

test.each<[string, Record<string, string>, Record<string, string>, boolean]>([
  ['the very pairs', { a: '1' }, { a: '1' }, true],
  ['more pairs than asked for', { a: '1' }, { a: '1', b: '2' }, true],
  ['all of two pairs, in another order', { a: '1', b: '2' }, { b: '2', a: '1' }, true],
  ['one of two pairs', { a: '1', b: '2' }, { a: '1' }, false],
  ['another value', { a: '1' }, { a: '2' }, false],
  ['another letter case', { a: 'x' }, { a: 'X' }, false],
  ['the value of another key', { a: '1' }, { b: '1' }, false],
  ['an inherited name for a key', { toString: '1' }, { a: '1' }, false],
])('whether a tunnel with %s is in a group', (_, selector, labels, isIn) => {
  const endpoints = new EndpointRegistry();
  const tunnel = labelled(agent.session, 'tn_1', labels);
  endpoints.labelled.add(tunnel);
  expect(endpoints.group(ACCOUNT, selector).pick('https')).toBe(isIn ? tunnel.endpointFor('https') : undefined);
});

test('the tunnels of a group are taken in turn, as they come and go', () => {
  const endpoints = new EndpointRegistry();
  const group = endpoints.group(ACCOUNT, { app: 'web' });
  const turns = (count: number) => Array.from({ length: count }, () => group.pick('https')?.tunnelId).sort();
  expect(group.pick('https')).toBeUndefined();

  const tunnels = ['tn_1', 'tn_2', 'tn_3'].map((id) => labelled(agent.session, id, { app: 'web' }));
  for (const tunnel of tunnels) endpoints.labelled.add(tunnel);
  expect(turns(6)).toEqual(['tn_1', 'tn_1', 'tn_2', 'tn_2', 'tn_3', 'tn_3']);

  const [first, second, third] = tunnels;
  if (first) endpoints.labelled.remove(first);
  expect(turns(4)).toEqual(['tn_2', 'tn_2', 'tn_3', 'tn_3']);
  for (const tunnel of [second, third]) if (tunnel) endpoints.labelled.remove(tunnel);
  expect(group.pick('https')).toBeUndefined();
});

test('a tunnel of another account is in no group, whatever its labels', () => {
  const endpoints = new EndpointRegistry();
  endpoints.labelled.add(labelled(agent.session, 'tn_1', { app: 'web' }, { accountId: 'ac_2' }));
  expect(endpoints.group(ACCOUNT, { app: 'web' }).pick('tls')).toBeUndefined();
  expect(endpoints.group('ac_2', { app: 'web' }).pick('tls')).toBeDefined();
});

test('the agent is told which kind of edge its visitor came to', async () => {
  const tunnel = labelled(agent.session, 'tn_9', { app: 'web' });
  for (const proto of ['https', 'tls'] as const) {
    const stream = await tunnel.endpointFor(proto).open(visitor, noopStreamEvents);
    expect(stream).toBeTypeOf('object');
  }
  await expect.poll(() => agent.headers.length).toBe(2);
  expect(agent.headers.map(({ tunnelId, proto, edgeType }) => ({ tunnelId, proto, edgeType }))).toEqual([
    { tunnelId: 'tn_9', proto: 'https', edgeType: EdgeType.HTTPS },
    { tunnelId: 'tn_9', proto: 'tls', edgeType: EdgeType.TLS },
  ]);
});

test('a tunnel that is closed lets nobody in', async () => {
  const tunnel = labelled(agent.session, 'tn_1', { app: 'web' });
  tunnel.close();
  for (const proto of ['https', 'tls'] as const) {
    expect(tunnel.endpointFor(proto).isOpen).toBe(false);
    expect(await tunnel.endpointFor(proto).open(visitor, noopStreamEvents)).toBe('offline');
  }
});

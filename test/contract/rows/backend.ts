// Backends that send traffic to others, those that respond by themselves, and those at static addresses.

import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { crud, texts } from './crud.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const backend = (prefix: string, path: string) => (world: World, got: any, own: object) => ({
  ...expected.common(world, prefix, path, got),
  ...own,
});
const weighted = backend('bkdwd', '/backends/weighted');
const failover = backend('bkdfo', '/backends/failover');
const response = backend('bkdhr', '/backends/http_response');
const fixed = backend('bkdsc', '/backends/static');

const weights = ({ ids }: World) => ({ backends: { [ids.backend]: 0, [ids.responseBackend]: 10_000 } });
const order = ({ ids }: World) => ({ backends: [ids.backend, ids.weightedBackend, ids.responseBackend] });
const place = { address: 'Shop.example.com:8443', tls: { enabled: true } };
const page = { status_code: 503, body: 'gone – fishing', headers: { 'Retry-After': '60', some_word: 'x' } };

export const backendRows = [
  ...crud({
    ...{ path: '/backends/weighted', single: 'weightedBackend', plural: 'weightedBackends', key: 'backends' },
    ...{ shape: shapes.weightedBackend, make: weighted },
    body: (world) => ({ ...texts, ...weights(world) }),
    shown: (world) => ({ ...texts, ...weights(world) }),
    change: { metadata: '', backends: {} },
    changed: { metadata: '' },
    listed: (world, got) => [
      weighted(world, got[0], { id: world.ids.weightedBackend, backends: { [world.ids.backend]: 1 } }),
    ],
  }),
  ...crud({
    ...{ path: '/backends/failover', single: 'failoverBackend', plural: 'failoverBackends', key: 'backends' },
    ...{ shape: shapes.failoverBackend, make: failover },
    body: (world) => ({ ...texts, ...order(world) }),
    shown: (world) => ({ ...texts, ...order(world) }),
    change: { description: 'changed', backends: [] },
    changed: { description: 'changed' },
    listed: (world, got) => [failover(world, got[0], { id: world.ids.failoverBackend, backends: [world.ids.backend] })],
  }),
  ...crud({
    path: '/backends/http_response',
    ...{ single: 'httpResponseBackend', plural: 'httpResponseBackends', key: 'backends' },
    ...{ shape: shapes.responseBackend, make: response },
    body: () => ({ ...texts, ...page }),
    shown: () => ({ ...texts, ...page }),
    change: { body: '', status_code: 204 },
    listed: (world, got) => [
      response(world, got[0], { id: world.ids.responseBackend, body: '', headers: {}, status_code: 200 }),
    ],
  }),
  ...crud({
    ...{ path: '/backends/static', single: 'staticBackend', plural: 'staticBackends', key: 'backends' },
    ...{ shape: shapes.staticBackend, make: fixed },
    body: () => ({ ...texts, ...place }),
    shown: () => ({ ...texts, ...place }),
    change: { address: '[2606:4700::1111]:80', tls: { enabled: false } },
    listed: (world, got) => [
      fixed(world, got[0], { id: world.ids.staticBackend, address: 'api.example.com:443', tls: { enabled: false } }),
    ],
  }),
];

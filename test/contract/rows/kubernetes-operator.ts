// Operators in clusters of Kubernetes.

import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { crud, texts } from './crud.ts';
import { fresh, row } from './rows.ts';

const given = {
  enabled_features: ['ingress', 'gateway'],
  region: 'eu',
  deployment: { name: 'operator', namespace: 'tunnels', version: '0.18.0', cluster_name: 'attic' },
};

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const operator = (world: World, got: any, own: object) => ({
  ...expected.common(world, 'k8sop', '/kubernetes_operators', got),
  ...{ updated_at: expected.time, principal: expected.refTo(world, '/users', world.account.ownerId) },
  ...{ ...given, binding: null },
  ...own,
});

export const operatorRows = [
  ...crud({
    ...{ path: '/kubernetes_operators', single: 'kubernetesOperator', plural: 'kubernetesOperators', key: 'operators' },
    shape: shapes.kubernetesOperator,
    make: operator,
    body: () => ({ ...texts, ...given }),
    shown: () => texts,
    change: { enabled_features: ['gateway'], metadata: 'changed' },
    listed: () => [],
  }),
  row('GET /kubernetes_operators/{kubernetes_operator_id}/bound_endpoints', 200, 'kubernetesOperatorBoundEndpoints', {
    shape: 'id',
    list: 'endpoints',
    at: async (world) => {
      const { id } = await fresh('/kubernetes_operators', {})(world);
      return { kubernetes_operator_id: id };
    },
    answer: (world, got) => expected.list(world, 'endpoints', new URL(got.uri).pathname, []),
  }),
];

// Agent ingresses: reserved domains by which agents connect.

import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { crud, texts } from './crud.ts';

const nameAt = (door: string) => `${door.replaceAll('_', '-')}.ingress.example.com`;

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const ingress = (world: World, got: any, own: object) => {
  const { certificate_management_policy, certificate_management_status } = expected.domain(world, got, {
    domain: got?.domain,
  });
  return {
    ...expected.common(world, 'agin', '/agent_ingresses', got),
    ns_targets: [],
    domain: got?.domain,
    region_domains: [got?.domain],
    certificate_management_policy,
    // The domain was reserved a moment before.
    certificate_management_status: {
      ...certificate_management_status,
      provisioning_job: { ...certificate_management_status.provisioning_job, started_at: expected.time },
    },
    ...own,
  };
};

export const ingressRows = crud({
  ...{ path: '/agent_ingresses', single: 'agentIngress', plural: 'agentIngresses', key: 'ingresses' },
  shape: shapes.agentIngress,
  make: ingress,
  body: (_, door) => ({ domain: nameAt(door), ...texts }),
  shown: () => texts,
  change: { metadata: 'changed' },
  listed: () => [],
});

// IP policies and their rules.

import { expect } from 'vitest';
import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { crud, texts, withTexts } from './crud.ts';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const policy = (world: World, got: any, own: object) => ({
  ...expected.common(world, 'ipp', '/ip_policies', got),
  ...own,
});

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const rule = (world: World, got: any, own: object) => ({
  ...expected.common(world, 'ipr', '/ip_policy_rules', got),
  ip_policy: expected.refTo(world, '/ip_policies', world.ids.ipPolicy),
  ...own,
});

let made = 0;
/** A network that no other rule has, as it may be written and as it is shown. */
const network = () => `2001:DB8:${(++made).toString(16)}::/48`;
// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const shown = (got: any) => ({ cidr: expect.stringMatching(/^2001:db8:[0-9a-f]+::\/48$/), ...got });

export const ipPolicyRows = [
  ...crud({
    ...{ path: '/ip_policies', single: 'ipPolicy', plural: 'ipPolicies', key: 'ip_policies' },
    shape: shapes.ipPolicy,
    make: policy,
    ...withTexts,
    listed: (world, got) => [policy(world, got[0], { id: world.ids.ipPolicy, description: 'policy of the world' })],
  }),
  ...crud({
    ...{ path: '/ip_policy_rules', single: 'ipPolicyRule', plural: 'ipPolicyRules', key: 'ip_policy_rules' },
    shape: shapes.ipPolicyRule,
    make: rule,
    body: ({ ids }) => ({ ...texts, ip_policy_id: ids.ipPolicy, cidr: network(), action: 'deny' }),
    shown: () => shown({ ...texts, action: 'deny' }),
    change: { cidr: '203.0.113.0/24' },
    listed: (world, got) => [
      rule(world, got[0], { id: world.ids.ipPolicyRule, cidr: '192.0.2.0/24', action: 'allow' }),
    ],
  }),
];

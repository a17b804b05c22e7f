// IP policies, their rules, and IP restrictions.

import { expect } from 'vitest';
import * as expected from '../expected.ts';
import { shapes } from '../shapes.ts';
import type { World } from '../world.ts';
import { crud, texts, withTexts } from './crud.ts';
import { fresh, row, the } from './rows.ts';

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

// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const restriction = (world: World, got: any, own: object) => ({
  ...expected.common(world, 'ipx', '/ip_restrictions', got),
  ip_policies: [expected.refTo(world, '/ip_policies', world.ids.ipPolicy)],
  enforced: false,
  ...own,
});

const ofWorld = ({ ids }: World) => ({ id: ids.ipRestriction, type: 'agent' });
/** An account has one of each type. */
const typeAt = (door: string) => (door.startsWith('rest') ? 'endpoints' : 'dashboard');

let made = 0;
/** A network that no other rule has, as it may be written and as it is shown. */
const network = () => `2001:DB8:${(++made).toString(16)}::/48`;
// biome-ignore lint/suspicious/noExplicitAny: the JSON of an answer.
const shown = (got: any) => ({ cidr: expect.stringMatching(/^2001:DB8:[0-9a-f]+::\/48$/), ...got });

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
  row('POST /ip_restrictions', 201, 'createAccountIpRestriction', {
    shape: shapes.accountIpRestriction,
    body: ({ ids }, door) => ({ ...texts, type: typeAt(door), ip_policy_ids: [ids.ipPolicy] }),
    answer: (world, got, door) => restriction(world, got, { ...texts, type: typeAt(door) }),
  }),
  row('GET /ip_restrictions', 200, 'accountIpRestrictions', {
    ...{ shape: shapes.accountIpRestriction, list: 'ip_restrictions' },
    answer: (world, { ip_restrictions: [got] }) =>
      expected.list(world, 'ip_restrictions', '/ip_restrictions', [restriction(world, got, ofWorld(world))]),
  }),
  row('GET /ip_restrictions/{id}', 200, 'accountIpRestriction', {
    ...{ shape: shapes.accountIpRestriction, at: the('ipRestriction') },
    answer: (world, got) => restriction(world, got, ofWorld(world)),
  }),
  row('PATCH /ip_restrictions/{id}', 200, 'updateAccountIpRestriction', {
    ...{ shape: shapes.accountIpRestriction, at: the('ipRestriction') },
    body: () => ({ enforced: true }),
    answer: (world, got) => restriction(world, got, { ...ofWorld(world), enforced: true }),
  }),
  row('DELETE /ip_restrictions/{id}', 204, 'deleteAccountIpRestriction', {
    at: fresh('/ip_restrictions', ({ ids }) => ({ type: 'api', ip_policy_ids: [ids.ipPolicy] })),
  }),
];

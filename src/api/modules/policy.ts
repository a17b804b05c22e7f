// The policy module of a route and of a TLS edge: the traffic policy in its older shape, rules in two lists.

import { SECRET_MASK } from '../../protocol/policy/policy-secrets.ts';
import { maskedPolicy, type StoredPolicy } from '../../store/edges/policy-secrets.ts';
import { Prisma } from '../../store/generated/prisma/client.ts';
import { builder } from '../builder.ts';
import { httpsEdgeRoute, tlsEdge } from '../hosts.ts';
import type { Host, Module } from '../module.ts';
import { readPolicy, tableOf } from '../policy-check.ts';
import { type LegacyPolicy, legacyPolicyOf } from '../policy-legacy.ts';

const text = {
  enabled: 'Whether it acts on traffic.',
  inbound: 'Rules for what comes in: for requests, and on a TLS edge for connections.',
  outbound: 'Rules for answers. A TLS edge has none.',
  rule: `Each is \`{ name, expressions, actions: [{ type, config }] }\`, with \`${SECRET_MASK}\` in place of secrets.`,
  name: 'What the rule is called in logs.',
  expressions: 'Conditions in CEL. The actions are done when all of them hold; without any, always.',
  actions: 'What is done, in this order.',
  type: 'What is done, as `add-headers`.',
  config: `The settings of the action: an object. \`${SECRET_MASK}\` stands for each secret, as in \`trafficPolicy\`.`,
};

const Policy = builder.objectRef<LegacyPolicy>('Policy').implement({
  description: 'The traffic policy in its older shape; `trafficPolicy` is the same in the present one.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    inbound: t.expose('inbound', { type: ['Json'], description: `${text.inbound} ${text.rule}` }),
    outbound: t.expose('outbound', { type: ['Json'], description: `${text.outbound} ${text.rule}` }),
  }),
});

const PolicyActionInput = builder.inputType('PolicyActionInput', {
  description: 'Something that a rule does.',
  fields: (t) => ({
    type: t.string({ required: true, description: text.type }),
    config: t.field({ type: 'Json', description: text.config }),
  }),
});

const PolicyRuleInput = builder.inputType('PolicyRuleInput', {
  description: 'What is done when.',
  fields: (t) => ({
    name: t.string({ description: text.name }),
    expressions: t.stringList({ description: text.expressions }),
    actions: t.field({ type: [PolicyActionInput], required: true, description: text.actions }),
  }),
});

const PolicyInput = builder.inputType('PolicyInput', {
  description: 'The traffic policy in its older shape. It is stored as `trafficPolicy`, and replaces that.',
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    inbound: t.field({ type: [PolicyRuleInput], description: text.inbound }),
    outbound: t.field({ type: [PolicyRuleInput], description: text.outbound }),
  }),
});

type Input = typeof PolicyInput.$inferInput;

function policyOf(host: Host): Module<{ trafficPolicy: unknown }, LegacyPolicy, Input> {
  return {
    host,
    field: 'policy',
    path: 'policy',
    noun: 'policy',
    select: { trafficPolicy: true },
    type: Policy,
    input: PolicyInput,
    selection: 'enabled inbound outbound',
    read({ trafficPolicy }) {
      const stored = trafficPolicy as StoredPolicy | null; // As in traffic-policy.ts.
      return legacyPolicyOf(stored && maskedPolicy(tableOf(host), stored));
    },
    async write({ enabled, inbound, outbound }, writing) {
      const value = JSON.stringify({ inbound: inbound ?? [], outbound: outbound ?? [] });
      const blamed = (path: string) => writing.member + (/^\w*/.exec(path)?.[0] ?? '');
      return { trafficPolicy: await readPolicy(host, { enabled: enabled ?? true, value }, writing, blamed) };
    },
    unset: { trafficPolicy: Prisma.DbNull },
  };
}

export const policyOfRoute = policyOf(httpsEdgeRoute);
export const policyOfTlsEdge = policyOf(tlsEdge);

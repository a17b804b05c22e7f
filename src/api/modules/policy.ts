// The policy module of a route, of a TLS edge and of a TCP edge: the traffic policy in its older shape, rules in two lists.

import { trafficPolicyModule } from '../../edge/modules/traffic-policy.ts';
import { SECRET_MASK } from '../../protocol/policy/policy-secrets.ts';
import { storedModule } from '../../store/edges/module-rows.ts';
import { maskedPolicy } from '../../store/edges/policy-secrets.ts';
import { builder } from '../builder/builder.ts';
import { httpsEdgeRoute, tcpEdge, tlsEdge } from './hosts.ts';
import type { ApiModule, ModuleHost } from './module.ts';
import { checkTrafficPolicy } from './policy-check.ts';
import { type LegacyPolicy, legacyPolicyOf } from './policy-legacy.ts';

const text = {
  enabled: 'Whether it acts on traffic.',
  inbound: 'Rules for what comes in: for requests, and on a TLS or TCP edge for connections.',
  outbound: 'Rules for answers. A TLS or TCP edge has none.',
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

function policyOf(host: ModuleHost): ApiModule<{ modules: unknown }, LegacyPolicy, Input> {
  return {
    host,
    field: 'policy',
    noun: 'policy',
    select: { modules: true },
    type: Policy,
    input: PolicyInput,
    selection: 'enabled inbound outbound',
    read(row) {
      const stored = storedModule(row, trafficPolicyModule);
      return legacyPolicyOf(stored ? maskedPolicy(host.table, stored) : null);
    },
    async write({ enabled, inbound, outbound }, writing) {
      const value = JSON.stringify({ inbound: inbound ?? [], outbound: outbound ?? [] });
      const memberAt = (path: string) => writing.member + (/^\w*/.exec(path)?.[0] ?? '');
      const stored = await checkTrafficPolicy(host, { enabled: enabled ?? true, value }, writing, memberAt);
      return { modules: { [trafficPolicyModule.key]: stored } };
    },
    unset: { modules: { [trafficPolicyModule.key]: null } },
  };
}

export const policyOfRoute = policyOf(httpsEdgeRoute);
export const policyOfTlsEdge = policyOf(tlsEdge);
export const policyOfTcpEdge = policyOf(tcpEdge);

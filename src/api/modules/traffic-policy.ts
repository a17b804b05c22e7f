// The traffic policy module of a route, of a TLS edge and of a TCP edge: a document in JSON or YAML.

import type { ModuleDescriptor } from '../../edge/modules/descriptor.ts';
import type { TrafficPolicySettings } from '../../edge/modules/traffic-policy.ts';
import { trafficPolicyModule } from '../../edge/modules/traffic-policy.ts';
import { SECRET_MASK } from '../../protocol/policy/policy-secrets.ts';
import { storedModule } from '../../store/edges/module-rows.ts';
import { maskedPolicy } from '../../store/edges/policy-secrets.ts';
import { builder } from '../builder/builder.ts';
import { httpsEdgeRoute, tcpEdge, tlsEdge } from './hosts.ts';
import type { ApiModule, ModuleHost } from './module.ts';
import { checkTrafficPolicy } from './policy-check.ts';

const text = {
  enabled: 'Whether it acts on traffic.',
  value: `The document, in JSON or YAML, as it was sent, but with \`${SECRET_MASK}\` in place of each secret.`,
};

const TrafficPolicy = builder.objectRef<TrafficPolicySettings>('TrafficPolicy').implement({
  description: 'Rules for traffic: what is done when. `evaluatePolicy` shows what a policy would do to a request.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: text.enabled }),
    value: t.exposeString('value', { description: text.value }),
  }),
});

const TrafficPolicyInput = builder.inputType('TrafficPolicyInput', {
  description:
    'Rules for traffic. A route takes the phases `on_http_request` and `on_http_response` (or `inbound` and ' +
    '`outbound`), a TLS or TCP edge takes `on_tcp_connect` (or `inbound`). The whole document is checked before it is stored. ' +
    'Its secrets are stored encrypted: the passwords of `basic-auth`, `secret` of `verify-webhook`, `server_private_key` ' +
    `of \`terminate-tls\`. \`${SECRET_MASK}\` in place of one keeps what the replaced policy has there.`,
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    value: t.string({ required: true, description: 'The document, in JSON or YAML.' }),
  }),
});

type Input = typeof TrafficPolicyInput.$inferInput;

function trafficPolicyOf(host: ModuleHost): ApiModule<{ modules: unknown }, TrafficPolicySettings, Input> {
  return {
    host,
    descriptor: trafficPolicyModule as ModuleDescriptor, // A list of descriptors holds many kinds.
    field: trafficPolicyModule.key,
    noun: 'traffic policy',
    select: { modules: true },
    type: TrafficPolicy,
    input: TrafficPolicyInput,
    selection: 'enabled value',
    read(row) {
      const stored = storedModule(row, trafficPolicyModule);
      return stored ? maskedPolicy(host.table, stored) : null;
    },
    async write({ enabled, value }, writing) {
      const policy = { enabled: enabled ?? true, value };
      const stored = await checkTrafficPolicy(host, policy, writing, () => `${writing.member}value`);
      return { modules: { [trafficPolicyModule.key]: stored } };
    },
    unset: { modules: { [trafficPolicyModule.key]: null } },
  };
}

export const trafficPolicyOfRoute = trafficPolicyOf(httpsEdgeRoute);
export const trafficPolicyOfTlsEdge = trafficPolicyOf(tlsEdge);
export const trafficPolicyOfTcpEdge = trafficPolicyOf(tcpEdge);

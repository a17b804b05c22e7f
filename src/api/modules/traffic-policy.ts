// The traffic policy module of a route and of a TLS edge: a document in JSON or YAML.

import type { TrafficPolicySettings } from '../../edge/modules/settings.ts';
import { SECRET_MASK } from '../../protocol/policy/policy-secrets.ts';
import { maskedPolicy, type StoredPolicy } from '../../store/edges/policy-secrets.ts';
import { Prisma } from '../../store/generated/prisma/client.ts';
import { builder } from '../builder.ts';
import { httpsEdgeRoute, tlsEdge } from '../hosts.ts';
import type { Host, Module } from '../module.ts';
import { readPolicy, tableOf } from '../policy-check.ts';

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
    '`outbound`), a TLS edge takes `on_tcp_connect` (or `inbound`). The whole document is checked before it is stored. ' +
    'Its secrets are stored encrypted: the passwords of `basic-auth`, `secret` of `verify-webhook`, `server_private_key` ' +
    `of \`terminate-tls\`. \`${SECRET_MASK}\` in place of one keeps what the replaced policy has there.`,
  fields: (t) => ({
    enabled: t.boolean({ description: `${text.enabled} Default true.` }),
    value: t.string({ required: true, description: 'The document, in JSON or YAML.' }),
  }),
});

type Input = typeof TrafficPolicyInput.$inferInput;

function trafficPolicyOf(host: Host): Module<{ trafficPolicy: unknown }, TrafficPolicySettings, Input> {
  return {
    host,
    field: 'trafficPolicy',
    path: 'traffic_policy',
    noun: 'traffic policy',
    select: { trafficPolicy: true },
    type: TrafficPolicy,
    input: TrafficPolicyInput,
    selection: 'enabled value',
    read(row) {
      const stored = row.trafficPolicy as StoredPolicy | null; // Only this module and `policy` write this column.
      return stored && maskedPolicy(tableOf(host), stored);
    },
    async write({ enabled, value }, writing) {
      const policy = { enabled: enabled ?? true, value };
      return { trafficPolicy: await readPolicy(host, policy, writing, () => `${writing.member}value`) };
    },
    unset: { trafficPolicy: Prisma.DbNull },
  };
}

export const trafficPolicyOfRoute = trafficPolicyOf(httpsEdgeRoute);
export const trafficPolicyOfTlsEdge = trafficPolicyOf(tlsEdge);

// The IP restriction module of a route, of a TLS edge and of a TCP edge: who may visit.

import type { ModuleDescriptor } from '../../edge/modules/descriptor.ts';
import { ipRestrictionModule } from '../../edge/modules/ip-restriction.ts';
import { storedModule } from '../../store/edges/module-rows.ts';
import { builder } from '../builder/builder.ts';
import { references, typeOfKind } from '../collections/references.ts';
import { checkPolicyIds, IP_POLICIES_MAX } from './chosen-ip-policies.ts';
import { httpsEdgeRoute, tcpEdge, tlsEdge } from './hosts.ts';
import type { ApiModule, ModuleHost } from './module.ts';

const ERRORS = { none: 'ipPoliciesMissing', tooMany: 'tooManyIpPolicies', unknown: 'unknownIpPolicy' } as const;

interface Settings {
  enabled: boolean;
  policyIds: string[];
}

const IpRestriction = builder.objectRef<Settings>('IpRestriction').implement({
  description: 'Lets in only visitors whose address one of these IP policies allows, and none of them denies.',
  fields: (t) => ({
    enabled: t.exposeBoolean('enabled', { description: 'Whether it acts on traffic.' }),
    ipPolicies: t.field({
      type: [typeOfKind('ipPolicy')],
      description: 'The IP policies, in the order in which they were given.',
      resolve: references(({ policyIds }) => policyIds),
    }),
  }),
});

const IpRestrictionInput = builder.inputType('IpRestrictionInput', {
  description: 'Which visitors are let in, by their address.',
  fields: (t) => ({
    enabled: t.boolean({ description: 'Whether it acts on traffic. Default true.' }),
    ipPolicyIds: t.idList({ description: `The ids of 1 to ${IP_POLICIES_MAX} IP policies of your account.` }),
  }),
});

type Input = typeof IpRestrictionInput.$inferInput;

interface Selected {
  modules: unknown;
  ipPolicies: { policyId: string }[];
}

function ipRestrictionOf(host: ModuleHost): ApiModule<Selected, Settings, Input> {
  return {
    host,
    descriptor: ipRestrictionModule as ModuleDescriptor, // A list of descriptors holds many kinds.
    field: ipRestrictionModule.key,
    noun: 'IP restriction',
    select: { modules: true, ipPolicies: { select: { policyId: true }, orderBy: { position: 'asc' } } },
    type: IpRestriction,
    input: IpRestrictionInput,
    selection: 'enabled ipPolicies { id uri }',
    read(row) {
      const stored = storedModule(row, ipRestrictionModule);
      return stored ? { enabled: stored.enabled, policyIds: row.ipPolicies.map(({ policyId }) => policyId) } : null;
    },
    async write({ enabled, ipPolicyIds }, writing) {
      const { context, db, member } = writing;
      const ids = ipPolicyIds ?? [];
      await checkPolicyIds(ids, { accountId: context.accountId, db, member: `${member}ipPolicyIds`, errors: ERRORS });
      const create = ids.map((policyId, position) => ({ policyId, position }));
      const modules = { [ipRestrictionModule.key]: { enabled: enabled ?? true } };
      return { modules, relations: { ipPolicies: { deleteMany: {}, create } } };
    },
    unset: { modules: { [ipRestrictionModule.key]: null }, relations: { ipPolicies: { deleteMany: {} } } },
  };
}

export const ipRestrictionOfRoute = ipRestrictionOf(httpsEdgeRoute);
export const ipRestrictionOfTlsEdge = ipRestrictionOf(tlsEdge);
export const ipRestrictionOfTcpEdge = ipRestrictionOf(tcpEdge);

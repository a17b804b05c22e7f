// IP policies: lists of networks whose addresses may visit, or may not. IP restriction modules name them.

import { builder } from '../builder/builder.ts';
import { Node } from '../collections/collection.ts';
import { NOTED_MEMBERS } from '../collections/members.ts';
import { rowFields } from '../collections/notes.ts';
import { joined, named, related } from '../collections/related.ts';
import { resource } from '../collections/resource.ts';
import { searchByNotes } from '../resource.ts';
import { ipPolicyRules, ipPolicyRulesOf } from './ip-policy-rules.ts';

const ROW = { prefix: 'ipp', path: '/ip_policies' };

export const IpPolicy = builder.prismaObject('IpPolicy', {
  description:
    'Which addresses may visit: those that one of its rules allows and none denies. IP restriction modules name it.',
  interfaces: [Node],
  fields: (t) => ({
    ...rowFields(t, ROW),
    rules: related(t, {
      ...{ kind: 'ipPolicyRule', on: named('policy_id'), member: 'ip_policy.id' },
      description: 'Its rules.',
    }),
    httpsEdgeRoutes: related(t, {
      ...{ kind: 'httpsEdgeRoute', on: joined('route_ip_policy', 'policy_id', 'route_id') },
      description: 'The routes of HTTPS edges whose IP restriction module names it.',
    }),
    tlsEdges: related(t, {
      ...{ kind: 'tlsEdge', on: joined('edge_ip_policy', 'policy_id', 'edge_id') },
      description: 'The TLS edges whose IP restriction module names it.',
    }),
    tcpEdges: related(t, {
      ...{ kind: 'tcpEdge', on: joined('edge_ip_policy', 'policy_id', 'edge_id') },
      description: 'The TCP edges whose IP restriction module names it.',
    }),
  }),
});

export const { routes } = resource({
  kind: 'ipPolicy',
  model: 'IpPolicy',
  ...ROW,
  ref: IpPolicy,
  shows: 'id uri createdAt description metadata',
  members: NOTED_MEMBERS,
  audit: { name: 'ip_policy', subject: 'An IP policy' },
  conflicts: { inUse: 'ipPolicyInUse' },
  search: searchByNotes(150, 'ip_policy'),
  create: {
    description: 'Creates an IP policy. Without rules it lets nobody in.',
    note: 'Every member may be left out.',
  },
  update: { description: 'Changes what is noted of an IP policy.' },
  remove: {
    description:
      'Deletes an IP policy with its rules. Answers with its id; fails with `CONFLICT` while an IP restriction module ' +
      'names it.',
    cascade: {
      resource: ipPolicyRules,
      objects: (context, policy) => ipPolicyRulesOf(context, (policy as { id: string }).id),
    },
  },
});

// The fleet at a glance: how many agents are online, and how their versions drift apart. In GraphQL only.

import {
  type AgentCount,
  countByCredential,
  countByLabel,
  countByVersion,
  countFleet,
  GROUPS_MAX,
} from '../../../store/agents/fleet-counts.ts';
import { builder } from '../../builder/builder.ts';
import { requiredReference, typeOfKind } from '../../collections/references.ts';
import type { Route } from '../../route.ts';

const counts = {
  count: 'How many agents these are.',
  online: 'How many of them are online.',
};

const FleetVersion = builder.objectRef<AgentCount & { version: string }>('FleetVersion').implement({
  description: 'The agents of one version.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'The version, as the agents say; "" of those that say none.' }),
    count: t.exposeInt('count', { description: counts.count }),
    online: t.exposeInt('online', { description: counts.online }),
  }),
});

const FleetCredential = builder
  .objectRef<AgentCount & { id: string; description: string }>('FleetCredential')
  .implement({
    description: 'The agents that connected with one credential last.',
    fields: (t) => ({
      credential: t.field({
        type: typeOfKind('credential'),
        description: 'The credential.',
        resolve: requiredReference(({ id }) => id),
      }),
      description: t.exposeString('description', { description: 'Its description.' }),
      count: t.exposeInt('count', { description: counts.count }),
      online: t.exposeInt('online', { description: counts.online }),
    }),
  });

const FleetLabel = builder.objectRef<AgentCount & { key: string; value: string }>('FleetLabel').implement({
  description: 'The agents with one label.',
  fields: (t) => ({
    key: t.exposeString('key', { description: 'The key of the label.' }),
    value: t.exposeString('value', { description: 'Its value.' }),
    count: t.exposeInt('count', { description: counts.count }),
    online: t.exposeInt('online', { description: counts.online }),
  }),
});

const most = `Those with the most agents come first; at most ${GROUPS_MAX}.`;

const FleetSummary = builder.objectRef<AgentCount>('FleetSummary').implement({
  description: 'Counts over all agents of your account.',
  fields: (t) => ({
    total: t.exposeInt('count', { description: 'How many agents there are.' }),
    online: t.exposeInt('online', { description: counts.online }),
    offline: t.int({ description: 'How many of them are not.', resolve: ({ count, online }) => count - online }),
    versions: t.field({
      type: [FleetVersion],
      description: `By version. ${most}`,
      resolve: (_, __, { db, accountId }) => countByVersion(db, accountId),
    }),
    credentials: t.field({
      type: [FleetCredential],
      description: `By credential. ${most}`,
      resolve: (_, __, { db, accountId }) => countByCredential(db, accountId),
    }),
    labels: t.field({
      type: [FleetLabel],
      description: `By label. ${most}`,
      resolve: (_, __, { db, accountId }) => countByLabel(db, accountId),
    }),
  }),
});

builder.queryField('fleetSummary', (t) =>
  t.field({
    type: FleetSummary,
    nullable: true,
    access: { kind: null },
    description: 'The fleet at a glance: how many agents are online, and by which versions, credentials and labels.',
    resolve: (_, __, { db, accountId }) => countFleet(db, accountId),
  }),
);

export const routes: Route[] = [];

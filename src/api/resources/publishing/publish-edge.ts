// An edge with all that it takes to be served, made in one transaction. In GraphQL only.

import { builder } from '../../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../../builder/field-cost.ts';
import { mutation } from '../../collections/mutation.ts';
import { requiredReference, typeOfKind } from '../../collections/references.ts';
import type { Context } from '../../context.ts';
import { checkAll } from '../../errors/problems.ts';
import { idempotencyKeyArgument } from '../../idempotency.ts';
import { Edge } from '../../modules/interfaces.ts';
import type { Route } from '../../route.ts';
import { checkTexts, DESCRIPTION_MAX_BYTES } from '../../text-limits.ts';
import { tunnelGroupBackends } from '../backends/tunnel-group-backends.ts';
import { reserveDomain } from '../domains/reserved-domains.ts';
import { createRoute } from '../https-edge-routes.ts';
import { createHttpsEdge } from '../https-edges.ts';
import { createTlsEdge } from '../tls-edges.ts';
import { readEdgeName } from './edge-name.ts';

interface Published {
  protocol: 'https' | 'tls';
  edgeId: string;
  domainId: string;
  backendId: string;
  created: string[];
}

const EdgeProtocol = builder.enumType('EdgeProtocol', {
  description: 'How an edge serves its visitors.',
  values: {
    HTTPS: { value: 'https', description: 'It ends TLS, and each request goes to a backend by its path.' },
    TLS: { value: 'tls', description: 'Each connection goes to a backend as a whole.' },
  } as const,
});

const PublishedEdge = builder.objectRef<Published>('PublishedEdge').implement({
  description: 'An edge that was published, with what it needed.',
  fields: (t) => ({
    edge: t.field({
      type: Edge,
      description: 'The edge: an HTTPS edge, or a TLS edge.',
      resolve: requiredReference(({ edgeId }) => edgeId),
    }),
    reservedDomain: t.field({
      type: typeOfKind('reservedDomain'),
      description: 'The domain that its name comes under.',
      resolve: requiredReference(({ domainId }) => domainId),
    }),
    backend: t.field({
      type: typeOfKind('tunnelGroupBackend'),
      description: 'The backend that its traffic goes to.',
      resolve: requiredReference(({ backendId }) => backendId),
    }),
    created: t.exposeIDList('created', {
      description: 'The ids of what was created; what was there already is not among them.',
    }),
  }),
});

const PublishEdgeInput = builder.inputType('PublishEdgeInput', {
  description: 'An edge to publish.',
  fields: (t) => ({
    protocol: t.field({ type: EdgeProtocol, required: true, description: 'How it serves its visitors.' }),
    host: t.string({ required: true, description: 'The name it answers, as `app.example.com`.' }),
    labels: t.field({
      type: 'Labels',
      required: true,
      description: 'The labels of the tunnels that serve it, as `{ "app": "shop" }`; 1 to 16 of them.',
    }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
  }),
});

mutation('publishEdge', { gives: ['published', 'What has been created, and what the agent needs.'] }, (t) =>
  t.field({
    type: PublishedEdge,
    nullable: true,
    access: { kind: null },
    weight: FEW_PER_DOCUMENT,
    description:
      'Makes an edge with all that it takes to be served: it reserves the name unless your account has it already, creates ' +
      'a backend unless one has just these labels, and creates the edge, for HTTPS with a route that leads everything to the ' +
      'backend. All of it is done or, where something fails, nothing. What is in the way of the name, `checkEdgeName` says.',
    args: {
      input: t.arg({ type: PublishEdgeInput, required: true, description: 'The edge to publish.' }),
      ...idempotencyKeyArgument,
    },
    resolve: (_, { input }, context) => context.inTransaction((transaction) => publish(input, transaction)),
  }),
);

async function publish(input: typeof PublishEdgeInput.$inferInput, context: Context): Promise<Published> {
  const { protocol, host, labels } = input;
  const given = input.description ?? '';
  // The domain and the backend are to have it. Where it is too long it is told of once, and what is made without it is not kept.
  const description = Buffer.byteLength(given) > DESCRIPTION_MAX_BYTES ? '' : given;
  const created: string[] = [];
  const note = <T extends { id: string }>(row: T) => {
    created.push(row.id);
    return row.id;
  };
  const ids = { select: { id: true } };
  const { place, backendId } = await checkAll({
    async place() {
      const { domain, domainId } = await readEdgeName(host, context);
      return { domain, domainId: domainId ?? note(await reserveDomain(ids, { domain, description }, context)) };
    },
    backendId: async () =>
      (await sameBackend(labels, context)) ??
      note(await tunnelGroupBackends.createOne(context, ids, { labels, description })),
    description: () => void checkTexts({ description: given }),
  });
  const { domain, domainId } = place;
  const edge = { description, hostports: [`${domain}:443`] };
  const backend = { backendId };
  if (protocol === 'tls') {
    const edgeId = note(await createTlsEdge(ids, { ...edge, backend } as typeof edge, context));
    return { protocol, edgeId, domainId, backendId, created };
  }
  const edgeId = note(await createHttpsEdge(ids, edge, context));
  const route = { matchType: 'PATH_PREFIX', match: '/', backend } as const;
  note(await createRoute(ids, edgeId, route, context));
  return { protocol, edgeId, domainId, backendId, created };
}

/** The first backend of the account that has just these labels. */
async function sameBackend(labels: Record<string, string>, { db, accountId }: Context): Promise<string | undefined> {
  const where = { accountId, kind: 'TUNNEL_GROUP' as const, labels: { equals: labels } };
  return (await db.backend.findFirst({ where, orderBy: { id: 'asc' }, select: { id: true } }))?.id;
}

/** There is no REST path for it. */
export const routes: Route[] = [];

// The routes of an HTTPS edge: which requests go to which backend, through which modules.

import type { Db } from '../../store/database/client.ts';
import { isId, newId } from '../../store/ids.ts';
import { builder } from '../builder/builder.ts';
import { FEW_PER_DOCUMENT } from '../builder/field-cost.ts';
import { changeSubscription, Node, registerResource } from '../collections/collection.ts';
import { deletedOf, givesObject, mutation } from '../collections/mutation.ts';
import { connectionOf } from '../collections/page.ts';
import { requiredReference, typeOfKind } from '../collections/references.ts';
import type { Context } from '../context.ts';
import { ApiError, requireFound } from '../errors/errors.ts';
import { checkAll } from '../errors/problems.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { httpsEdgeRoute as host, httpsEdge } from '../modules/hosts.ts';
import { httpsEdgeRouteModules as modules } from '../modules/index.ts';
import { PolicyHost } from '../modules/interfaces.ts';
import { addModules, checkModules, moduleInputs, modulesSelection, writeModules } from '../modules/module.ts';
import { nounOf } from '../naming.ts';
import { NOTE_COLUMNS } from '../resource.ts';
import { inLowerCase } from '../rest-words.ts';
import { route } from '../route.ts';
import { checkBytes, checkTexts } from '../text-limits.ts';
import { CircuitBreakerState } from './edges/circuit-breaker-state.ts';

const ROUTES_MAX = 100;
const MATCH_MAX_BYTES = 1024;

const MatchType = builder.enumType('MatchType', {
  description: 'How a route’s match is held against a request’s path.',
  extensions: inLowerCase(),
  values: {
    EXACT_PATH: { description: 'The path is the match.' },
    PATH_PREFIX: { description: 'The path begins with the match.' },
  } as const,
});

export const HttpsEdgeRoute = builder.prismaObject('Route', {
  variant: 'HttpsEdgeRoute',
  description: 'Which requests of an HTTPS edge go to which backend, and through which modules.',
  interfaces: [Node, PolicyHost],
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id: `edghtsrt_…`.' }),
    edgeId: t.exposeID('edgeId', { description: 'The id of its edge.' }),
    edge: t.field({
      type: typeOfKind('httpsEdge'),
      description: 'The edge that it is of.',
      select: { edgeId: true },
      resolve: requiredReference(({ edgeId }) => edgeId),
    }),
    uri: t.string({
      description: 'The URI of its REST resource.',
      resolve: ({ id, edgeId }, _, context) => context.uri(`/edges/https/${edgeId}/routes/${id}`),
    }),
    createdAt: t.expose('createdAt', { type: 'Timestamp', description: 'When it was created.' }),
    matchType: t.expose('matchType', { type: MatchType, description: 'How `match` is held against the path.' }),
    match: t.exposeString('match', { description: 'The path, or its beginning.' }),
    circuitBreakerState: t.field({
      type: CircuitBreakerState,
      nullable: true,
      description: 'Its circuit breaker over all nodes of the gateway; null when the module is not set, or off.',
      select: { id: true },
      resolve: ({ id }, _, context) => context.app.traffic.circuitBreaker(id),
    }),
    description: t.exposeString('description', { description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.exposeString('metadata', { description: 'Anything, for machines; at most 4096 bytes.' }),
  }),
});

const httpsEdgeRoutes = {
  kind: 'httpsEdgeRoute',
  prefix: 'edghtsrt',
  single: 'httpsEdgeRoute',
  typeName: 'HttpsEdgeRoute',
  ref: HttpsEdgeRoute,
  table: (db: Db) => db.route,
  audit: host.audit,
  conflicts: host.conflicts,
  search: {
    ...{ rank: 130, table: 'route', title: 't.match', detail: 't.description' },
    texts: ['t.match', ...NOTE_COLUMNS],
  },
};
registerResource(httpsEdgeRoutes);
connectionOf(HttpsEdgeRoute, 'HttpsEdgeRoute', { isInRest: false });
changeSubscription(httpsEdgeRoutes);

const CreateHttpsEdgeRouteInput = builder.inputType('CreateHttpsEdgeRouteInput', {
  description: 'A new route.',
  fields: (t) => ({
    matchType: t.field({ type: MatchType, required: true, description: 'How `match` is held against the path.' }),
    match: t.string({ required: true, description: 'A path such as `/api`, or its beginning; at most 1024 bytes.' }),
    description: t.string({ description: 'What it is for, for people; at most 255 bytes.' }),
    metadata: t.string({ description: 'Anything, for machines; at most 4096 bytes.' }),
    ...moduleInputs(t, modules),
  }),
});

const UpdateHttpsEdgeRouteInput = builder.inputType('UpdateHttpsEdgeRouteInput', {
  description: 'What to change; a member left out or null stays as it is.',
  fields: (t) => ({
    matchType: t.field({ type: MatchType, description: 'How `match` is held against the path.' }),
    match: t.string({ description: 'A path such as `/api`, or its beginning; at most 1024 bytes. "" keeps it.' }),
    description: t.string({ description: 'At most 255 bytes; "" clears it.' }),
    metadata: t.string({ description: 'At most 4096 bytes; "" clears it.' }),
    ...moduleInputs(t, modules),
  }),
});

addModules(HttpsEdgeRoute, modules);

const place = builder.args((t) => ({
  edgeId: t.id({ required: true, description: 'The id of the HTTPS edge.' }),
  id: t.id({ required: true, description: 'The id of the route.' }),
}));

builder.queryField('httpsEdgeRoute', (t) =>
  t.prismaField({
    type: HttpsEdgeRoute,
    nullable: true,
    access: { kind: 'httpsEdgeRoute' },
    description: 'The route with this id. Fails with `NOT_FOUND` when the edge has none.',
    args: place,
    resolve: async (query, _, where, context) =>
      requireFound(
        await context.db.route.findUnique({ ...query, where: scoped(context, where) }),
        nounOf('httpsEdgeRoute'),
      ),
  }),
);

mutation(
  'createHttpsEdgeRoute',
  {
    gives: ['httpsEdgeRoute', 'The new route.'],
    objects: { httpsEdge: { kind: 'httpsEdge', id: ({ edgeId }) => String(edgeId) } },
  },
  (t) =>
    t.prismaField({
      type: HttpsEdgeRoute,
      nullable: true,
      access: { kind: 'httpsEdgeRoute' },
      weight: FEW_PER_DOCUMENT,
      description:
        'Adds a route to an HTTPS edge. Exact paths are tried before prefixes, longer prefixes before shorter.',
      args: {
        edgeId: t.arg.id({ required: true, description: 'The id of the HTTPS edge.' }),
        input: t.arg({ type: CreateHttpsEdgeRouteInput, required: true, description: 'The route.' }),
        ...idempotencyKeyArgument,
      },
      resolve: (query, _, { edgeId, input }, context) => createRoute(query, edgeId, input, context),
    }),
);

/** @param query what is to be read of it. @throws {ApiError} when there is no such edge, or the input is not as it should be. */
export function createRoute(
  query: object,
  edgeId: string,
  input: typeof CreateHttpsEdgeRouteInput.$inferInput,
  context: Context,
) {
  const { accountId } = context;
  const { matchType, match } = input;
  return context.create(host, async (db, announce) => {
    const id = newId(httpsEdgeRoutes.prefix);
    const { texts, ofModules } = await checkAll({
      match: () => checkMatch(match),
      texts: () => checkTexts(input),
      edge: () => checkRoom(db, accountId, edgeId),
      ofModules: () => checkModules(modules, input, { context, db, id }),
    });
    await db.route.create({ data: { ...texts, id, accountId, edgeId, matchType, match }, select: { id: true } });
    const row = await db.route.update({
      ...query,
      where: { id },
      data: await writeModules(host, ofModules, { db, id }),
    });
    await host.afterWrite({ db, announce, baseUrl: context.baseUrl }, id);
    return row;
  });
}

/** @throws {ApiError} when the account has no such edge, or it has as many routes as it may have. */
async function checkRoom(db: Db, accountId: string, edgeId: string): Promise<void> {
  const edge = { id: edgeId, accountId, kind: 'HTTPS' } as const;
  requireFound(await db.edge.findUnique({ where: edge, select: { id: true } }), nounOf('httpsEdge'));
  if ((await db.route.count({ where: { edgeId } })) >= ROUTES_MAX)
    throw new ApiError('tooManyRoutes', { max: ROUTES_MAX });
}

mutation('updateHttpsEdgeRoute', givesObject('httpsEdgeRoute'), (t) =>
  t.prismaField({
    type: HttpsEdgeRoute,
    nullable: true,
    access: { kind: 'httpsEdgeRoute' },
    weight: FEW_PER_DOCUMENT,
    description: 'Changes a route.',
    args: {
      ...place,
      input: t.arg({ type: UpdateHttpsEdgeRouteInput, required: true, description: 'What to change.' }),
    },
    resolve: (query, _, { input, ...where }, context) => {
      const match = input.match || undefined; // "" is what clients send who were not given one.
      return context.update(host, where.id, async (db, announce) => {
        const { id } = where;
        const row = { where: scoped(context, where), select: { id: true } };
        const { texts, ofModules } = await checkAll({
          match: () => match !== undefined && checkMatch(match),
          texts: () => checkTexts(input),
          route: async () => requireFound(await db.route.findUnique(row), nounOf('httpsEdgeRoute')),
          ofModules: () => checkModules(modules, input, { context, db, id }),
        });
        const data = { ...texts, match, matchType: input.matchType ?? undefined };
        const relations = await writeModules(host, ofModules, { db, id });
        const changed = await db.route.update({ ...query, where: { id }, data: { ...data, ...relations } });
        await host.afterWrite({ db, announce, baseUrl: context.baseUrl }, id);
        return changed;
      });
    },
  }),
);

mutation(
  'deleteHttpsEdgeRoute',
  { ...deletedOf('httpsEdgeRoute'), objects: { httpsEdge: { kind: 'httpsEdge', id: ({ edgeId }) => String(edgeId) } } },
  (t) =>
    t.id({
      nullable: true,
      access: { kind: 'httpsEdgeRoute' },
      description: 'Deletes a route. Answers with its id; fails with `NOT_FOUND` when the edge has none.',
      args: place,
      resolve: async (_, where, context) => {
        await context.remove(host, where.id, async (db, announce) => {
          await db.route.delete({ where: scoped(context, where), select: { id: true } });
          await httpsEdge.afterWrite({ db, announce, baseUrl: context.baseUrl }, where.edgeId);
        });
        return where.id;
      },
    }),
);

function scoped({ accountId }: Context, { id, edgeId }: { id: string; edgeId: string }) {
  return { id: isId('edghtsrt', id) ? id : '', edgeId, accountId };
}

function checkMatch(match: string): void {
  if (match === '') throw new ApiError('routeMatchMissing', { member: 'match' });
  checkBytes('match', match, MATCH_MAX_BYTES, 'routeMatchTooLong');
  if (!/^\/[^?#\s\p{Cc}]*$/u.test(match)) throw new ApiError('routeMatchFormat', { member: 'match' });
}

export const routeSelection = `id edgeId uri createdAt matchType match description metadata ${modulesSelection(modules)}`;

const path = '/edges/https/:edge_id/routes';
/** Modules of clients that know more kinds than there are here. */
const ignoredMembers = ['saml'];

export const routes = [
  route('POST', path, 201, 'createHttpsEdgeRoute', routeSelection, { ignoredMembers }),
  route('GET', `${path}/:id`, 200, 'httpsEdgeRoute', routeSelection),
  route('PATCH', `${path}/:id`, 200, 'updateHttpsEdgeRoute', routeSelection, { ignoredMembers }),
  route('DELETE', `${path}/:id`, 204, 'deleteHttpsEdgeRoute'),
];

// What every kind of object of a list has in common: it is looked up by id, listed in pages, watched, deleted, and is a
// Node.

import { queryFromInfo } from '@pothos/plugin-prisma';
import { type Change, type WriteAction, watch } from '../../store/changes/changes.ts';
import type { Db } from '../../store/database/client.ts';
import { isId } from '../../store/ids.ts';
import { builder, type ObjectRow, type ObjectRowRef } from '../builder/builder.ts';
import type { Cascade, Context } from '../context.ts';
import { ApiError, requireFound } from '../errors/errors.ts';
import { nounOf, pluralOf } from '../naming.ts';
import type { AuditedResource } from '../resource.ts';
import { type Route, route } from '../route.ts';
import type { FieldAccess } from './access.ts';
import { findById, type Resource, registerResource, scopeOf, tableOf } from './nodes.ts';
import { connectionOf, readPage } from './page.ts';
import { whileAllowed } from './watching.ts';

export { Node, registerResource } from './nodes.ts';

export interface Collection extends Resource {
  /** The list's REST path, as `/credentials`. */
  path: string;
  /** The root fields: one object, and the list. */
  single: string;
  plural: string;
  ref: ObjectRowRef;
}

export const ChangeAction = builder.enumType('ChangeAction', {
  description: 'What happened to an object.',
  values: {
    CREATED: { description: 'It was created, or came to life.' },
    UPDATED: { description: 'It was changed, or something that belongs to it was.' },
    DELETED: { description: 'It was deleted, or is no longer live.' },
  } satisfies Record<WriteAction, { description: string }>,
});

const kindsWithSubscription = new Set<string>();

/** The kinds of object whose changes are told: those that have a subscription of their own. */
export function subscribableKinds(): string[] {
  return [...kindsWithSubscription];
}

/** Adds the look-up, the list and the subscription of a kind of object to the schema. */
export function collection<T extends Collection>(options: T): T {
  const { kind, prefix, path, single, plural, typeName, ref } = options;
  registerResource(options);
  const noun = nounOf(kind);

  builder.queryField(single, (t) =>
    t.field({
      type: ref,
      nullable: true,
      description: `The ${noun} with this id. Fails with \`NOT_FOUND\` when your account has none.`,
      args: { id: t.arg.id({ required: true, description: `The id of the ${noun}: \`${prefix}_…\`.` }) },
      resolve: async (_, { id }, context, info) =>
        requireFound(await findById(options, context, id, queryFromInfo({ context, info })), noun),
    }),
  );

  const Connection = connectionOf(ref, typeName);
  builder.queryField(plural, (t) =>
    t.field({
      type: Connection,
      nullable: true,
      description: `The ${pluralOf(noun)} of your account, the newest first.`,
      args: {
        first: t.arg.int({ description: 'How many to give, 1 to 100; 100 when left out.' }),
        after: t.arg.id({ description: 'Give those older than this id.' }),
        last: t.arg.int({ description: 'How many to give when paging backwards, 1 to 100.' }),
        before: t.arg.id({ description: 'Give those newer than this id, the nearest of them.' }),
      },
      resolve: async (_, args, context, info) => {
        const query = queryFromInfo({ context, info, typeName, paths: [['nodes'], ['edges', 'node']] });
        const scope = await scopeOf(options, context);
        const table = tableOf(options, context.db);
        return readPage(
          args,
          { prefix, path },
          (slice) =>
            table.findMany({ ...query, ...slice, where: { ...slice.where, ...scope } }) as Promise<ObjectRow[]>,
          () => table.count({ where: scope }),
        );
      },
    }),
  );

  changeSubscription(options);
  return options;
}

/** Adds the subscription to the changes of a kind of object. */
export function changeSubscription(options: Resource & Pick<Collection, 'single' | 'ref'>): void {
  const { kind, single, typeName, ref } = options;
  kindsWithSubscription.add(kind);
  const noun = nounOf(kind);
  const ChangeEvent = builder.objectRef<Change>(`${typeName}Change`).implement({
    description: `A change of a ${noun}.`,
    fields: (t) => ({
      action: t.field({ type: ChangeAction, description: 'What happened.', resolve: ({ action }) => action }),
      id: t.exposeID('id', { description: `The id of the ${noun}.` }),
      [single]: t.field({
        type: ref,
        nullable: true,
        description: `The ${noun} as it is now; null once it is deleted.`,
        resolve: ({ id }, _, context, info) => findById(options, context, id, queryFromInfo({ context, info })),
      }),
    }),
  });
  builder.subscriptionField(`${single}Changed`, (t) =>
    t.field({
      type: ChangeEvent,
      description: `Tells each time a ${noun} of your account is created, updated or deleted.`,
      subscribe: (_, __, context) => {
        const { accountId } = context;
        return whileAllowed(context, (signal) =>
          watch(context.app.changes, (change) => change.kind === kind && change.accountId === accountId, signal),
        );
      },
      resolve: (change) => change,
    }),
  );
}

export interface DeleteMutationOptions {
  description?: string;
  /** May refuse: called with an id of the right form, which need not exist. */
  check?(context: Context, id: string): Promise<void> | void;
  extensions?: FieldAccess;
  /** What goes with it. */
  cascade?: Cascade;
}

/** Adds the mutation that deletes an object. */
export function deleteMutation(
  collection: Collection & AuditedResource,
  name: string,
  { description, check, extensions, cascade }: DeleteMutationOptions = {},
): void {
  const { prefix } = collection;
  const noun = nounOf(collection.kind);
  builder.mutationField(name, (t) =>
    t.id({
      nullable: true,
      extensions: { ...extensions },
      description:
        description ??
        `Deletes the ${noun}. Answers with its id; fails with \`NOT_FOUND\` when your account has none, with \`CONFLICT\` while it is in use.`,
      args: { id: t.arg.id({ required: true, description: `The id of the ${noun}.` }) },
      resolve: async (_, { id }, context) => {
        if (!isId(prefix, id)) throw new ApiError('notFound', { kind: noun });
        await check?.(context, id);
        const where = { ...(await scopeOf(collection, context)), id };
        const work = (db: Db) => tableOf(collection, db).delete({ where, select: { id: true } });
        await context.remove(collection, id, work, cascade);
        return id;
      },
    }),
  );
}

/** The REST rows that read: the list under `key`, and one object. */
export function readRoutes(
  { path, single, plural }: Pick<Collection, 'path' | 'single' | 'plural'>,
  key: string,
  selection: string,
): Route[] {
  return [
    route('GET', path, 200, plural, `${key}: nodes { ${selection} } uri nextPageUri`),
    route('GET', `${path}/:id`, 200, single, selection),
  ];
}

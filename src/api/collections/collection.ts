// What every kind of object of a list has in common: it is looked up by id, listed in pages, watched, deleted, and is a
// Node.

import type { InputFieldMap } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import type { WriteAction } from '../../store/changes/changes.ts';
import type { Db } from '../../store/database/client.ts';
import { isId } from '../../store/ids.ts';
import { builder } from '../builder/builder.ts';
import { checkReadScope, type RestrictedAccess } from '../builder/root-fields.ts';
import type { Announce, Cascade, Context } from '../context.ts';
import { ApiError, requireFound } from '../errors/errors.ts';
import { nounOf, oneOf, pluralOf } from '../naming.ts';
import type { AuditedResource } from '../resource.ts';
import { type Extension, type Route, route } from '../route.ts';
import { bulkOperation } from './bulk-operations.ts';
import { translateWhere } from './filter/where.ts';
import { listArguments, readList } from './list.ts';
import { listInputs } from './list-inputs.ts';
import { loadPage, ROWS_OF_PAGE } from './loaded-page.ts';
import { ID_MEMBER, type ListMembers } from './members.ts';
import { deletedOf, mutation } from './mutation.ts';
import { findShown, prefixOf, type Resource, registerResource, scopeOf, tableOf } from './nodes.ts';
import { connectionOf } from './page.ts';
import { watchChanges } from './watch-changes.ts';
import { type FindMatching, type MatchedChange, watchMatching } from './watch-matching.ts';
import { whileAllowed } from './watching.ts';

export { Node, registerResource } from './nodes.ts';

export interface Collection extends Resource {
  path: string;
  table: (db: Db) => unknown;
  /** The kind that scopes of keys name; its own when left out. */
  scopeKind?: string;
  /** The root fields: one object, and the list. */
  single: string;
  plural: string;
  /** What the list can be filtered, ordered and searched by; its id only when left out. */
  members?: ListMembers;
  /** The order that the list has unless another is asked for, as REST writes it; by id, the newest first, when left out. */
  order?: string;
  /** Of a list of several kinds: the columns of its view that their fields know by `viewRowOf`. */
  shared?: Readonly<Record<string, true>>;
  /** What the list takes besides the page, and which part of its query that is. */
  narrowing?: Narrowing;
}

export interface Narrowing {
  arguments(): InputFieldMap;
  /** @throws {ApiError} when an argument is not valid. */
  where?(args: Record<string, unknown>, context: Context): object | Promise<object>;
  /** The same as a filter, which the address of the next page has, too; empty where nothing was given. */
  filter?(args: Record<string, unknown>): string;
}

export const ChangeAction = builder.enumType('ChangeAction', {
  description: 'What happened to an object.',
  values: {
    CREATED: { description: 'It was created, or came to life.' },
    UPDATED: { description: 'It was changed, or something that belongs to it was.' },
    DELETED: { description: 'It was deleted, or is no longer live.' },
  } satisfies Record<WriteAction, { description: string }>,
});

/** Objects that one subscription may name: a page of them. */
const IDS_MAX = 100;

const kindsWithSubscription = new Set<string>();
const collections: Collection[] = [];

/** Every list. Complete once the schema is loaded. */
export function registeredCollections(): readonly Collection[] {
  return collections;
}

/** The kinds of object whose changes are told: those that have a subscription of their own. */
export function subscribableKinds(): string[] {
  return [...kindsWithSubscription];
}

/** Adds the look-up, the list and the subscription of a kind of object to the schema. */
export function collection<T extends Collection>(options: T): T {
  if (!options.kinds) registerResource(options);
  addList(options, options.typeName);
  changeSubscription(options);
  return options;
}

/**
 * Adds the look-up and the list of objects to the schema: of a kind, or of those objects of a kind that `where` leaves, which keep
 * their type, id and subscription.
 * @param name what the type of its pages is called after.
 */
export function addList<T extends Collection>(options: T, name: string): T {
  const { kind, path, single, plural, typeName, ref, members = ID_MEMBER, order, narrowing, kinds } = options;
  const prefix = prefixOf(options);
  const access = { kind: options.scopeKind ?? kind };
  collections.push(options);
  const noun = nounOf(kind);
  const Connection = connectionOf(ref, name, { isInRest: !kinds });

  builder.queryField(single, (t) =>
    t.field({
      type: ref,
      nullable: true,
      access,
      description: `The ${noun} with this id. Fails with \`NOT_FOUND\` when your account has none.`,
      args: {
        id: t.arg.id({
          required: true,
          description: `The id of the ${noun}: ${[prefix]
            .flat()
            .map((one) => `\`${one}_…\``)
            .join(' or ')}.`,
        }),
      },
      resolve: async (_, { id }, context, info) => {
        checkKinds(options, context);
        return requireFound(await findShown(options, context, id, info), noun);
      },
    }),
  );

  builder.queryField(plural, (t) =>
    t.field({
      type: Connection,
      nullable: true,
      access,
      description: `The ${pluralOf(noun)} of your account, the newest first unless you ask for another order.`,
      args: { ...listArguments(typeName, members, order), ...narrowing?.arguments() },
      resolve: async (_, args, context, info) => {
        checkKinds(options, context);
        const query = kinds
          ? { select: { ...options.shared, id: true } }
          : queryFromInfo({ context, info, typeName, paths: ROWS_OF_PAGE });
        const scope = { AND: [await scopeOf(options, context), (await narrowing?.where?.(args, context)) ?? {}] };
        const accountId = kinds || options.where || narrowing?.where ? undefined : context.accountId;
        const table = tableOf(options, context.db);
        const source = { prefix, path, members, ...(order && { order }), table, scope, accountId };
        const filters = [args.filter, narrowing?.filter?.(args)].filter((filter) => filter);
        const filter = filters.length > 1 ? filters.map((one) => `(${one})`).join(' && ') : filters[0];
        const page = await readList(source, { ...args, filter }, context, query);
        return kinds ? loadPage(page, context, info) : page;
      },
    }),
  );
  return options;
}

/** @throws {ApiError} when the key that the caller has come with may not read one of the kinds that a list has. */
function checkKinds({ kinds = [] }: Resource, context: Context): void {
  for (const { kind } of kinds) checkReadScope(context, kind);
}

/** Adds the subscription to the changes of a kind of object. */
export function changeSubscription(options: Resource & Pick<Collection, 'single' | 'members' | 'scopeKind'>): void {
  const { kind, single, typeName, ref, table, members = ID_MEMBER, kinds: united } = options;
  const kinds = united?.map((one) => one.kind) ?? [kind];
  for (const one of kinds) kindsWithSubscription.add(one);
  const noun = nounOf(kind);
  const ChangeEvent = builder.objectRef<MatchedChange>(`${typeName}Change`).implement({
    description: `A change of ${oneOf(noun)}.`,
    fields: (t) => ({
      action: t.field({ type: ChangeAction, description: 'What happened.', resolve: ({ action }) => action }),
      objectId: t.exposeID('id', { description: `The id of the ${noun}; "" in a mark.` }),
      hasLeft: t.boolean({
        description: `Whether the ${noun} is there, but not among those that \`where\` asks for any more: take it from the list.`,
        resolve: ({ isLeft }) => isLeft === true,
      }),
      [single]: t.field({
        type: ref,
        nullable: true,
        description: `The ${noun} as it is now; null once it is deleted or has left the filter, and in a mark.`,
        resolve: ({ id, isLeft }, _, context, info) => (isLeft ? null : findShown(options, context, id, info)),
      }),
    }),
  });
  builder.subscriptionField(`${single}Changed`, (t) =>
    t.field({
      type: ChangeEvent,
      access: { kind: options.scopeKind ?? kind },
      description:
        `Tells each time ${oneOf(noun)} of your account is created, updated or deleted. Over server-sent events each has an id: a ` +
        'request with it in the header Last-Event-ID, within 5 minutes, is told first what happened since. Where that is not known ' +
        'any more, the first event is a mark, which has the `objectId` "": ask again for what you show.',
      args: {
        ids: t.arg.idList({
          description: `Only the changes of these are told; at most ${IDS_MAX}. Of all when left out.`,
        }),
        where: t.arg({
          type: listInputs(typeName, members).Where,
          description:
            'Only the changes of those for which this holds are told, and once that one of them does not fit any more: then `hasLeft` is ' +
            'true. Where more than 1,000 fit, and where a stream continues another, that is told of each change of one that does not fit.',
        }),
        mark: t.arg.boolean({
          description:
            'Whether to begin with a mark, as soon as nothing can be missed any more, and to send another whenever changes may have ' +
            'been missed. A mark is an event with the `objectId` "": ask again for what you show.',
        }),
      },
      subscribe: (_, { ids, where, mark }, context) => {
        checkKinds(options, context);
        if (ids && ids.length > IDS_MAX) throw new ApiError('tooManyIds', { member: 'ids', max: IDS_MAX });
        const watched = { kinds, ids: ids ? new Set(ids) : undefined, hasMarks: mark === true };
        if (!where || !table) return whileAllowed(context, (signal) => watchChanges(context, watched, signal));
        const condition = translateWhere(where, members);
        const find: FindMatching = async ({ id, take }) => {
          if (condition === false) return [];
          const all = [
            await scopeOf(options, context),
            condition === true ? {} : condition,
            id === undefined ? {} : { id },
          ];
          return tableOf(options, context.db).findMany({ where: { AND: all }, select: { id: true }, take }) as never;
        };
        return whileAllowed(context, (signal) => watchMatching(context, watched, find, signal));
      },
      resolve: (change) => change,
    }),
  );
}

export interface DeleteMutationOptions {
  description?: string;
  /** May refuse: called with an id of the right form, which need not exist. */
  check?(context: Context, id: string): Promise<void> | void;
  /** Only admins may; others get this error. */
  adminsOnly?: RestrictedAccess['adminsOnly'];
  /** Runs in the transaction that deletes the object, before it. It need not exist in the account. */
  before?(db: Db, id: string, announce: Announce, accountId: string): Promise<void>;
  /** Deletes in the same transaction, and may refuse what comes of it. */
  within?<T>(context: Context, db: Db, write: () => Promise<T>): Promise<T>;
  /** What goes with it. */
  cascade?: Cascade;
  /** What it belongs to, and the column of its row that names that: the payload has it as it is then. */
  parent?: { kind: string; column: string };
}

/** Adds the mutation that deletes an object. */
export function deleteMutation(
  collection: Collection & AuditedResource,
  name: string,
  { description, check, adminsOnly, before, within, cascade, parent }: DeleteMutationOptions = {},
): void {
  const { prefix } = collection;
  const noun = nounOf(collection.kind);
  const deleteOne = async (context: Context, id: string) => {
    if (!isId(prefix, id)) throw new ApiError('notFound', { kind: noun });
    await check?.(context, id);
    const where = { ...(await scopeOf(collection, context)), id };
    const select = { id: true, ...(parent && { [parent.column]: true }) };
    let deleted: unknown;
    const work = async (db: Db, announce: Announce) => {
      await before?.(db, id, announce, context.accountId);
      const write = () => tableOf(collection, db).delete({ where, select });
      deleted = await (within ? within(context, db, write) : write());
    };
    await context.remove(collection, id, work, cascade);
    return parent && (deleted as Record<string, string>)[parent.column];
  };
  const apply = async (context: Context, id: string) => void (await deleteOne(context, id));
  bulkOperation(collection.kind, 'DELETE', { adminsOnly, apply });
  // Whose it was, by the arguments of the call that deleted it.
  const parents = new WeakMap<object, string>();
  const idOfParent = (args: object) => parents.get(args) ?? null;
  const objects = parent && { [parent.kind]: { kind: parent.kind, id: idOfParent } };
  mutation(name, { ...deletedOf(collection.kind), ...(objects && { objects }) }, (t) =>
    t.id({
      nullable: true,
      access: { kind: collection.kind, adminsOnly },
      description:
        description ??
        `Deletes the ${noun}. Answers with its id; fails with \`NOT_FOUND\` when your account has none, with \`CONFLICT\` while it is in use.`,
      args: { id: t.arg.id({ required: true, description: `The id of the ${noun}.` }) },
      resolve: async (_, args, context) => {
        const parentId = await deleteOne(context, args.id);
        if (parentId !== undefined) parents.set(args, parentId);
        return args.id;
      },
    }),
  );
}

/**
 * The REST rows that read: the list under `key`, and one object.
 * @param extended what the objects, and the list's parameters, are for clients written for the original service.
 */
export function readRoutes(
  { path, single, plural }: Pick<Collection, 'path' | 'single' | 'plural'>,
  key: string,
  selection: string,
  extended: Pick<Extension, 'selection' | 'parameters' | 'texts'> = {},
): Route[] {
  const listOf = <T extends string | undefined>(shown: T) => shown && `${key}: nodes { ${shown} } uri nextPageUri`;
  return [
    route('GET', path, 200, plural, listOf(selection), {
      extended: { ...extended, selection: listOf(extended.selection) },
    }),
    route('GET', `${path}/:id`, 200, single, selection, {
      extended: { selection: extended.selection, texts: extended.texts },
    }),
  ];
}

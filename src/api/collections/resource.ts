// A kind of object, described once: what is particular to it. Its look-up, list, stream of changes, mutations and REST rows follow.
// What fits no description is written out: its file calls `collection()` and adds its mutations itself.

import type { InputFieldMap, InputShapeFromFields } from '@pothos/core';
import { queryFromInfo } from '@pothos/plugin-prisma';
import type { Db } from '../../store/database/client.ts';
import { allColumns } from '../../store/database/rows-by-id.ts';
import type { Prisma } from '../../store/generated/prisma/client.ts';
import { newId } from '../../store/ids.ts';
import { builder, type ObjectRow } from '../builder/builder.ts';
import type { RestrictedAccess } from '../builder/root-fields.ts';
import type { Announce, Context } from '../context.ts';
import { checkAll, outcomeOf } from '../errors/problems.ts';
import { idempotencyKeyArgument } from '../idempotency.ts';
import { nounOf, pluralOf, snakeCase } from '../naming.ts';
import type { AuditedResource } from '../resource.ts';
import { type Extension, type Route, route } from '../route.ts';
import { checkTexts, type OwnerNotes } from '../text-limits.ts';
import { type Collection, collection, type DeleteMutationOptions, deleteMutation, readRoutes } from './collection.ts';
import type { ListMembers } from './members.ts';
import { givesNew, givesObject, mutation } from './mutation.ts';
import { scopeOf, tableOf } from './nodes.ts';
import { changedNotes, type InputBuilder, NOTES, type NoteTexts, newNotes } from './notes.ts';

/** A view is not written. */
type ModelName = Exclude<Prisma.ModelName, 'AnyEndpoint'>;
type Operations<M extends ModelName> = Prisma.TypeMap['model'][M]['operations'];
/** The columns that no description has to name. */
type OwnColumns = 'id' | 'accountId' | keyof OwnerNotes;

/** The columns of a new row. */
export type NewColumns<M extends ModelName> = Omit<
  Extract<Operations<M>['create']['args']['data'], { accountId: string }>,
  OwnColumns
>;
/** The columns of a row that change: undefined leaves what is there. */
export type ChangedColumns<M extends ModelName> = Partial<
  Omit<Extract<Operations<M>['update']['args']['data'], { accountId?: unknown }>, OwnColumns>
>;

/**
 * Writes the row, with the columns that every kind has. Nothing changes its columns after it in the transaction.
 * @returns what the caller has asked for of it, and all columns.
 */
type Save<Columns> = (columns: Columns) => Promise<ObjectRow>;
/** What is written: columns, or how the row is written where other rows of the transaction have a say. */
type Written<Columns> = Columns | ((save: Save<Columns>, db: Db, announce: Announce) => Promise<ObjectRow>);

interface Write<Columns, Members extends InputFieldMap> {
  description: string;
  /** What its payload shows of the row this once, and never again: texts, and their descriptions. See `mutation()`. */
  secrets?: Readonly<Record<string, string>>;
  /** What is to be said of the input beyond what it is. */
  note?: string;
  /** The members of the input besides the notes of the owner. */
  input?(t: InputBuilder): Members;
  /**
   * Checks what needs no other row, before the transaction, and says what is to be written.
   * @param id of the object: the new one, or as it was given, which need not exist.
   * @throws {ApiError} when the input is not as it should be.
   */
  write?(
    input: InputShapeFromFields<Members> & OwnerNotes,
    context: Context,
    id: string,
  ): Written<Columns> | Promise<Written<Columns>>;
}

export interface Description<M extends ModelName, C extends InputFieldMap, U extends InputFieldMap>
  extends Omit<Collection, 'single' | 'plural' | 'scopeKind' | 'typeName' | 'table' | 'kind' | 'audit' | 'members'>,
    Pick<AuditedResource, 'kind' | 'audit'>,
    Pick<RestrictedAccess, 'adminsOnly'> {
  /** What its list can be filtered, ordered and searched by. */
  members: ListMembers;
  /** The model of its rows. */
  model: M;
  /** Left out where a description is for people and metadata for machines; null: it has neither, or `input` and `write` see to it. */
  notes?: NoteTexts | null;
  /** What REST shows of it, as a GraphQL selection: the documented members, in their order. Left out of what is in GraphQL only. */
  shows?: string;
  /** The member of REST's list; as the plural, when left out. */
  listKey?: string;
  /** What is different for clients written for the original service. */
  extended?: Pick<Extension, 'selection' | 'parameters' | 'texts'>;
  /** Of what is sent to create and to change: see `Route`. */
  ignoredMembers?: Route['ignoredMembers'];
  create: Write<NewColumns<M>, C>;
  update: Write<ChangedColumns<M>, U>;
  remove?: Omit<DeleteMutationOptions, 'adminsOnly'>;
}

/** What a description has become; other mutations can make its objects, too. */
export type DescribedResource<Input> = Collection &
  AuditedResource & {
    members: ListMembers;
    routes: Route[];
    /** @param query what is to be read of it. @throws {ApiError} when the input is not as it should be. */
    createOne(context: Context, query: object, input: Input): Promise<ObjectRow>;
  };

type NoMembers = Record<never, never>;

/** Adds all of a kind of object to the schema. */
export function resource<M extends ModelName, C extends InputFieldMap = NoMembers, U extends InputFieldMap = NoMembers>(
  description: Description<M, C, U>,
): DescribedResource<InputShapeFromFields<C> & OwnerNotes> {
  type CreateInput = InputShapeFromFields<C> & OwnerNotes;
  type UpdateInput = InputShapeFromFields<U> & OwnerNotes;
  const { model, notes = NOTES, shows, listKey, extended, ignoredMembers, ...rest } = description;
  const { adminsOnly, create, update, remove, ...more } = rest;
  const { kind, ref, path } = more;
  const plural = pluralOf(kind);
  const typeName = ref.name;
  const noun = nounOf(kind);
  const table = (db: Db) =>
    db[`${model.charAt(0).toLowerCase()}${model.slice(1)}` as Prisma.TypeMap['meta']['modelProps']];
  const self = collection({ ...more, typeName, single: kind, plural, table });
  /** The audit trail shows what was written, and need not read it. */
  const whole = (query: { select?: object }) =>
    query.select ? { ...query, select: { ...allColumns(model), ...query.select } } : query;
  const textsOf = (input: OwnerNotes) => (notes ? checkTexts(input, notes.errors) : {});

  /** What is wrong with the texts is told of together with what is found in the transaction, where something is looked for there. */
  const checkWritten = async <W>(input: OwnerNotes, write: () => W) => {
    const texts = outcomeOf(() => textsOf(input));
    const written = (await after(texts, write)) ?? {};
    if (typeof written !== 'function') texts();
    return { texts, written };
  };

  const createOne = async (context: Context, query: object, input: CreateInput) => {
    const own = { id: newId(self.prefix), accountId: context.accountId };
    const { texts, written } = await checkWritten(input, () => create.write?.(input, context, own.id));
    let row: ObjectRow | undefined;
    const write = (db: Db, announce: Announce) => {
      const save = async (columns: object) => {
        const data = { ...texts(), ...own, ...columns };
        row = (await tableOf(self, db).create({ ...whole(query), data })) as ObjectRow;
        return row;
      };
      return typeof written === 'function' ? after(texts, () => written(save, db, announce)) : save(written);
    };
    return context.create(self, write, () => row);
  };
  const updateOne = async (context: Context, query: object, id: string, input: UpdateInput) => {
    const { texts, written } = await checkWritten(input, () => update.write?.(input, context, id));
    const where = { ...(await scopeOf(self, context)), id };
    let row: ObjectRow | undefined;
    const write = (db: Db, announce: Announce) => {
      const save = async (columns: object) => {
        const data = { ...texts(), ...columns };
        row = (await tableOf(self, db).update({ ...whole(query), where, data })) as ObjectRow;
        return row;
      };
      return typeof written === 'function' ? after(texts, () => written(save, db, announce)) : save(written);
    };
    return context.update(self, id, write, { written: () => row });
  };

  const access = { kind, adminsOnly };
  const { secrets } = create;
  const createInput = builder.inputType(`Create${typeName}Input`, {
    description: sentences(`A new ${noun}.`, create.note),
    fields: (t) => ({ ...(notes && newNotes(t, notes)), ...create.input?.(t) }),
  });
  mutation(`create${typeName}`, { ...givesNew(kind, typeName), ...(secrets && { secrets }) }, (t) =>
    t.field({
      type: ref,
      nullable: true,
      access,
      description: create.description,
      args: {
        input: t.arg({ type: createInput, required: true, description: `The ${noun}.` }),
        ...idempotencyKeyArgument,
      },
      resolve: (_, { input }, context, info) =>
        createOne(context, queryFromInfo({ context, info }), input as CreateInput),
    }),
  );
  const updateInput = builder.inputType(`Update${typeName}Input`, {
    description: sentences('What to change; a member left out or null stays as it is.', update.note),
    fields: (t) => ({ ...(notes && changedNotes(t)), ...update.input?.(t) }),
  });
  mutation(`update${typeName}`, givesObject(kind), (t) =>
    t.field({
      type: ref,
      nullable: true,
      access,
      description: update.description,
      args: {
        id: t.arg.id({ required: true, description: `The id of the ${noun}.` }),
        input: t.arg({ type: updateInput, required: true, description: 'What to change.' }),
      },
      resolve: (_, { id, input }, context, info) =>
        updateOne(context, queryFromInfo({ context, info }), id, input as UpdateInput),
    }),
  );
  deleteMutation(self, `delete${typeName}`, { ...remove, adminsOnly });

  const routesOf = (shown: string) => [
    route('POST', path, 201, `create${typeName}`, shown, { ignoredMembers, extended }),
    ...readRoutes(self, listKey ?? snakeCase(plural), shown, extended),
    route('PATCH', `${path}/:id`, 200, `update${typeName}`, shown, { ignoredMembers, extended }),
    route('DELETE', `${path}/:id`, 204, `delete${typeName}`),
  ];
  return { ...self, routes: shows === undefined ? [] : routesOf(shows), createOne };
}

/** Runs what comes after a check. @throws {ApiError} with the problems of the check, too, when something is wrong. */
async function after<T>(check: () => unknown, work: () => T): Promise<Awaited<T>> {
  try {
    return await work();
  } catch (error) {
    checkAll({
      check,
      work: () => {
        throw error;
      },
    });
    throw error;
  }
}

const sentences = (...parts: (string | undefined)[]) => parts.filter((part) => part).join(' ');

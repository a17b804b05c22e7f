// What every module has in common: it belongs to an edge or a route, it is read there, replaced as a whole, and unset.

import type { InputRef, ObjectRef } from '@pothos/core';
import type { Db } from '../store/database/client.ts';
import type { AuditContext } from '../store/events/audit.ts';
import { isId } from '../store/ids.ts';
import { builder, type RowRef, type Types } from './builder.ts';
import type { Context } from './context.ts';
import { ApiError, found } from './errors.ts';
import { FEW } from './limits.ts';
import { nounOf } from './nouns.ts';
import type { AuditedResource } from './resource.ts';
import { type Route, route } from './route.ts';

type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>;

/** What a module can belong to. */
export interface Host extends AuditedResource {
  kind: 'httpsEdge' | 'httpsEdgeRoute' | 'tlsEdge';
  prefix: string;
  /** The REST path of one host; its parameters are the arguments that name it. */
  path: string;
  /** Whether an edge id comes with the host's own. */
  hasEdge: boolean;
  find(db: Db, where: object, select: object): Promise<unknown>;
  update(db: Db, id: string, data: object): Promise<unknown>;
  /**
   * Told in the transaction that has written to a host: what follows from it.
   * @throws {ApiError} when what it has now does not go together.
   */
  settle(audit: AuditContext, id: string): Promise<void>;
}

/** Where a module is written. */
export interface Writing {
  context: Context;
  db: Db;
  /** The host's. */
  id: string;
  /** What stands before the module's members in the input, as `backend.`; empty where the input is the module. */
  member: string;
}

/**
 * A kind of module on a kind of host.
 * @typeParam Selected what `select` brings of the host's row.
 * @typeParam Settings what the API shows of the module when it is set.
 */
export interface Module<Selected, Settings, Input> {
  host: Host;
  /** The field of the host, as `circuitBreaker`, and the last part of the REST path, as `circuit_breaker`. */
  field: string;
  path: string;
  noun: string;
  /** What of the host's row holds the module. */
  select: object;
  type: ObjectRef<BuilderTypes, Settings>;
  input: InputRef<Input>;
  /** What the REST body shows, as a GraphQL selection. */
  selection: string;
  /** The module as the row has it; null when it is not set. */
  read(row: Selected): Settings | null;
  /** What to write to the host's row. @throws {ApiError} naming members below `member`. */
  write(input: Input, writing: Writing): Promise<object> | object;
  /** What the answer to whoever replaces it shows, where that is more than anybody is shown later. */
  shown?(settings: Settings, input: Input): Settings;
  /** What to write to unset it. */
  unset: object;
}

/** Any of them: a list of modules holds many kinds. */
export type AnyModule = Module<object, object, object>;

interface Place {
  edgeId?: string;
  id: string;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Adds the root query and the two mutations of a module, and returns its REST rows. */
export function hostedModule(module: AnyModule): Route[] {
  const { host, field, noun, type, selection } = module;
  const place = nounOf(host.kind);
  const name = `${host.kind}${capital(field)}`;
  const path = `${host.path}/${module.path}`;

  const look = async (context: Context, db: Db, where: Place): Promise<object> =>
    found(
      isPlace(host, where) ? await host.find(db, scoped(context, where), { ...module.select, id: true }) : null,
      place,
    ) as object;

  const replace = async (
    context: Context,
    where: Place,
    data: (db: Db) => Promise<object> | object,
  ): Promise<object> => {
    let row: object | undefined;
    await context.write(host, 'UPDATED', async (db, announce) => {
      await look(context, db, where);
      await host.update(db, where.id, await data(db));
      await host.settle({ db, announce, baseUrl: context.baseUrl }, where.id);
      row = await look(context, db, where);
      return { id: where.id };
    });
    return found(row, place);
  };

  const set = (settings: object | null) => {
    if (settings === null) throw new ApiError('moduleNotSet', { thing: noun });
    return settings;
  };

  builder.queryField(name, (t) =>
    t.field({
      type,
      nullable: true,
      description: `The ${noun} module of this ${place}. Fails with \`NOT_FOUND\` when it is not set.`,
      args: placeArguments(host),
      resolve: async (_, where, context) => set(module.read(await look(context, context.db, where as Place))),
    }),
  );
  builder.mutationField(`replace${capital(name)}`, (t) =>
    t.field({
      type,
      nullable: true,
      extensions: FEW, // Policies are compiled, passwords hashed.
      description: `Sets the ${noun} module of this ${place}. It replaces the whole module: members left out take their defaults.`,
      args: {
        ...placeArguments(host),
        input: t.arg({ type: module.input, required: true, description: 'The module.' }),
      },
      resolve: async (_, { input, ...where }, context) => {
        const { id } = where as Place;
        const write = (db: Db) => module.write(input, { context, db, id, member: '' });
        const settings = set(module.read(await replace(context, where as Place, write)));
        return module.shown?.(settings, input) ?? settings;
      },
    }),
  );
  builder.mutationField(`delete${capital(name)}`, (t) =>
    t.id({
      nullable: true,
      description: `Unsets the ${noun} module of this ${place}; it is no error when it is not set. Answers with the id of the ${place}.`,
      args: placeArguments(host),
      resolve: async (_, where, context) => {
        await replace(context, where as Place, () => module.unset);
        return (where as Place).id;
      },
    }),
  );
  return [
    route('PUT', path, 200, `replace${capital(name)}`, selection),
    route('GET', path, 200, name, selection),
    route('DELETE', path, 204, `delete${capital(name)}`),
  ];
}

const ofEdge = builder.args((t) => ({ id: t.id({ required: true, description: 'The id of the edge.' }) }));
const ofRoute = builder.args((t) => ({
  edgeId: t.id({ required: true, description: 'The id of the HTTPS edge.' }),
  id: t.id({ required: true, description: 'The id of the route.' }),
}));

function placeArguments(host: Host): typeof ofEdge | typeof ofRoute {
  return host.hasEdge ? ofRoute : ofEdge;
}

function isPlace(host: Host, { id, edgeId }: Place): boolean {
  return isId(host.prefix, id) && (!host.hasEdge || isId('edghts', edgeId ?? ''));
}

function scoped({ accountId }: Context, { id, edgeId }: Place): object {
  return edgeId === undefined ? { id, accountId } : { id, edgeId, accountId };
}

/** The settings of a host's modules, as its input brings them along. */
export async function writeModules(
  modules: AnyModule[],
  input: object,
  where: Omit<Writing, 'member'>,
): Promise<object> {
  const data: object = {};
  const writers = new Map<string, string>();
  for (const module of modules) {
    const given = (input as Record<string, unknown>)[module.field];
    if (given == null) continue;
    const written = await module.write(given, { ...where, member: `${module.field}.` });
    for (const column of Object.keys(written)) {
      const other = writers.get(column);
      if (other) throw new ApiError('sameModule', { member: module.field, other });
      writers.set(column, module.field);
    }
    Object.assign(data, written);
  }
  return data;
}

/** What the REST body of a host shows of its modules. */
export function modulesSelection(modules: AnyModule[]): string {
  return modules.map(({ field, selection }) => `${field} { ${selection} }`).join(' ');
}

/** Adds the modules of a host to its object type. */
export function addModules(object: RowRef, modules: AnyModule[]): void {
  for (const { field, noun, type, select, read } of modules) {
    // The plugin types a field by its model's columns, which differ from host to host.
    builder.prismaObjectField(
      object as never,
      field as never,
      ((t: { field(options: object): unknown }) =>
        t.field({
          type,
          nullable: true,
          description: `Its ${noun} module; null when it is not set.`,
          select,
          resolve: read,
        })) as never,
    );
  }
}

/** The members by which an input brings modules along. Their names are known to `writeModules` alone. */
export function moduleInputs(
  t: { field(options: { type: InputRef<object>; description: string }): unknown },
  modules: AnyModule[],
): object {
  return Object.fromEntries(
    modules.map(({ field, noun, input }) => [
      field,
      t.field({ type: input, description: `Its ${noun} module; it is replaced as a whole.` }),
    ]),
  );
}

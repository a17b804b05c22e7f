// What every module has in common: it belongs to an edge or a route, it is read there, replaced as a whole, and unset.

import type { InputRef, ObjectRef } from '@pothos/core';
import type { ModuleDescriptor, ModuleSettings } from '../../edge/modules/descriptor.ts';
import type { Db } from '../../store/database/client.ts';
import { storedModule, writeStoredModules } from '../../store/edges/module-rows.ts';
import type { SecretOwner } from '../../store/edges/module-secrets.ts';
import type { AuditContext } from '../../store/events/audit.ts';
import { builder, type ObjectRowRef, type SchemaTypes } from '../builder/builder.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { checkEach } from '../errors/problems.ts';
import type { AuditedResource } from '../resource.ts';

type BuilderTypes = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>;

/** What a module can belong to. */
export interface ModuleHost extends AuditedResource {
  kind: 'httpsEdge' | 'httpsEdgeRoute' | 'tlsEdge' | 'tcpEdge' | 'cloudEndpoint';
  table: 'edge' | 'route';
  prefix: string;
  /** The protocol of the endpoints that its traffic policy is for; `https` stands for `http`, too. */
  protocol: 'https' | 'tls' | 'tcp';
  /** The REST path of one host; its parameters are the arguments that name it. */
  path: string;
  /** Whether an edge id comes with the host's own. */
  hasEdge: boolean;
  find(db: Db, where: { id: string }, select: object): Promise<unknown>;
  update(db: Db, id: string, data: object): Promise<unknown>;
  /**
   * Told in the transaction that has written to a host: what follows from it.
   * @throws {ApiError} when what it has now does not go together.
   */
  afterWrite(audit: AuditContext, id: string): Promise<void>;
}

/** What is written to the row of a host. */
export interface HostChange {
  /** Modules by their keys; null unsets one. The others stay. */
  modules?: Readonly<Record<string, object | null>>;
  /** What modules refer to, as Prisma takes it. */
  relations?: Readonly<Record<string, unknown>>;
}

/** Where a module is written. */
export interface ModuleWrite {
  context: Context;
  db: Db;
  /** The host's. */
  id: string;
  /** What stands before the module's members in the input, as `backend.`; empty where the input is the module. */
  member: string;
}

/** The row that the secrets of a module are bound to. */
export function secretOwner({ table }: ModuleHost, { context: { accountId }, id }: ModuleWrite): SecretOwner {
  return { table, id, accountId };
}

/**
 * A kind of module on a kind of host.
 * @typeParam Row what `select` brings of the host's row.
 * @typeParam Settings what the API shows of the module when it is set.
 */
export interface ApiModule<Row, Settings, Input> {
  host: ModuleHost;
  /** What the data plane knows of it; undefined for another shape of a module, and for what is no module there. */
  descriptor?: ModuleDescriptor;
  /** The field of the host, in camelCase. In snake_case it is the last part of the REST path. */
  field: string;
  noun: string;
  /** What of the host's row holds the module. */
  select: object;
  type: ObjectRef<BuilderTypes, Settings>;
  input: InputRef<Input>;
  /** What the REST body shows, as a GraphQL selection. */
  selection: string;
  /** The module as the row has it; null when it is not set. */
  read(row: Row): Settings | null;
  /** What to write to the host's row. @throws {ApiError} naming members below `member`. */
  write(input: Input, writing: ModuleWrite): Promise<HostChange> | HostChange;
  /** What the answer to whoever replaces it shows, where that is more than anybody is shown later. */
  showOnce?(settings: Settings, input: Input): Settings;
  /** What to write to unset it. */
  unset: HostChange;
}

/** Any of them: a list of modules holds many kinds. */
export type AnyApiModule = ApiModule<object, object, object>;

/** What modules have in common whose settings stand in the row of their host, under the key of a descriptor. */
export function storedUnder<Settings extends ModuleSettings>(descriptor: ModuleDescriptor<Settings, Settings>) {
  const { key } = descriptor;
  return {
    descriptor: descriptor as ModuleDescriptor, // A list of descriptors holds many kinds.
    field: key,
    select: { modules: true },
    read: (row: { modules: unknown }) => storedModule(row, descriptor) ?? null,
    unset: { modules: { [key]: null } },
  };
}

/**
 * Checks the modules that the input of a host brings along.
 * @returns what is to be written of them with `writeModules`.
 * @throws {ApiError} naming what is wrong in any of them.
 */
export async function checkModules(
  modules: AnyApiModule[],
  input: object,
  where: Omit<ModuleWrite, 'member'>,
): Promise<Required<HostChange>> {
  const change: Required<HostChange> = { modules: {}, relations: {} };
  const writers = new Map<string, string>();
  await checkEach(modules, async (module) => {
    const given = (input as Record<string, unknown>)[module.field];
    if (given == null) return;
    const written = await module.write(given, { ...where, member: `${module.field}.` });
    for (const name of Object.keys({ ...written.modules, ...written.relations })) {
      const other = writers.get(name);
      if (other) throw new ApiError('sameModule', { member: module.field, other });
      writers.set(name, module.field);
    }
    Object.assign(change.modules, written.modules);
    Object.assign(change.relations, written.relations);
  });
  return change;
}

/** Writes modules to the row of a host. @returns what of them is relations, to be written with the rest of the row. */
export async function writeModules(
  { table }: ModuleHost,
  { modules, relations }: Required<HostChange>,
  { db, id }: Pick<ModuleWrite, 'db' | 'id'>,
): Promise<object> {
  if (Object.keys(modules).length > 0) await writeStoredModules(db, table, id, modules);
  return relations;
}

/** What the REST body of a host shows of its modules. */
export function modulesSelection(modules: AnyApiModule[]): string {
  return modules.map(({ field, selection }) => `${field} { ${selection} }`).join(' ');
}

/** Adds the modules of a host to its object type. */
export function addModules(object: ObjectRowRef, modules: AnyApiModule[]): void {
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

/** The members by which an input brings modules along. Their names are known to `checkModules` alone. */
export function moduleInputs(
  t: { field(options: { type: InputRef<object>; description: string }): unknown },
  modules: AnyApiModule[],
): object {
  return Object.fromEntries(
    modules.map(({ field, noun, input }) => [
      field,
      t.field({ type: input, description: `Its ${noun} module; it is replaced as a whole.` }),
    ]),
  );
}

// What a row already carries is not looked up again.
//
// The Prisma plugin knows what it has loaded by the identity of GraphQL's path objects. The compiled executor makes new
// ones for each field, so that there every relation would be loaded a second time, row by row. The rows themselves tell.

import SchemaBuilder, { BasePlugin, type PothosOutputFieldConfig, type SchemaTypes } from '@pothos/core';
import { type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      loaded: LoadedRowsPlugin<Types>;
    }
  }
}

type AnyRow = Record<string, unknown>;
/** What a field selects: columns, and relations with what of them; `true` where other fields select in turn. */
type Selection = Record<string, boolean | { select?: Selection }>;

/** Stands outside the Prisma plugin: a field whose columns and relations are on the row is resolved from the row. */
class LoadedRowsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { kind, args, extensions, resolve }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const { pothosPrismaSelect: select, pothosPrismaLoaded: isLoaded } = (extensions ?? {}) as AnyRow;
    if (kind !== 'PrismaObject' || !select || !resolve || Object.keys(args).length > 0) return resolver;
    if (typeof isLoaded === 'function')
      return (row, given, context, info) =>
        (isLoaded(row, info, context) ? resolve : resolver)(row, given, context, info);
    const selected: Selection = typeof select === 'function' ? select({}, undefined, () => true).select : select;
    if (typeof select === 'function' && !isWhole(selected)) return resolver;
    return (row, ...rest) => (carries(row as AnyRow, selected) ? resolve : resolver)(row, ...rest);
  }

  /** Takes the resolver from every field that only reads the column of its own name: executors do that themselves. */
  override afterBuild(schema: GraphQLSchema): GraphQLSchema {
    for (const type of Object.values(schema.getTypeMap())) {
      if (!isObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        const { pothosPrismaVariant: column, pothosPrismaSelect: select } = field.extensions;
        if (column === field.name && !select) delete field.resolve;
      }
    }
    return schema;
  }
}

/** Whether relations are selected without a filter, order or limit: a row does not tell with which it has them. */
function isWhole(selected: Selection): boolean {
  return Object.values(selected).every(
    (wanted) =>
      typeof wanted !== 'object' ||
      (Object.keys(wanted).every((key) => key === 'select') && isWhole(wanted.select ?? {})),
  );
}

/** Whether a row has what is selected. What a relation was to lead to may be gone: then it is null. */
function carries(row: AnyRow, selected: Selection): boolean {
  return Object.entries(selected).every(([name, wanted]) => {
    const value = row[name];
    if (value === undefined) return false;
    const inner = typeof wanted === 'object' ? wanted.select : undefined;
    if (!inner || value === null) return true;
    return Array.isArray(value)
      ? value.every((one) => one === null || carries(one, inner))
      : carries(value as AnyRow, inner);
  });
}

const pluginName = 'loaded';
SchemaBuilder.registerPlugin(pluginName, LoadedRowsPlugin);
export default pluginName;

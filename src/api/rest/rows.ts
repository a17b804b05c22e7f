// Route rows, made ready: which arguments of a row's field come from where, and the operation that the row runs.

import { type GraphQLArgument, type GraphQLSchema, getNamedType, isInputObjectType } from 'graphql';
import { camelCase, restName, snakeCase } from '../case.ts';
import type { Operation } from '../graphql/operation.ts';
import { ownOperation } from '../graphql/own-operations.ts';
import type { Route } from '../route.ts';

/** A row, ready to answer requests. */
export interface Row extends Route {
  /**
   * The operation that it runs. It is parsed and validated when it is first asked for: a start takes no time for it.
   * @throws {Error} naming the row, when its selection does not fit the schema; a test finds that out.
   */
  operation(): Operation;
  /** Arguments that come from the path, from the query (by its REST name), from the body. */
  pathArguments: string[];
  queryArguments: Map<string, GraphQLArgument>;
  takesBody: boolean;
  /** By their REST names. */
  inputMembers: ReadonlySet<string>;
  takesKey: boolean;
}

/** @throws {Error} naming the row, when the schema has no such field, or not with the arguments that the row needs. */
export function prepareRow(schema: GraphQLSchema, row: Route): Row {
  const kind = row.method === 'GET' ? 'query' : 'mutation';
  const field = (kind === 'query' ? schema.getQueryType() : schema.getMutationType())?.getFields()[row.field];
  const name = `${row.method} ${row.path}`;
  if (!field) throw new Error(`${name}: the schema has no ${kind} ${row.field}`);

  const pathArguments = [...row.path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => camelCase(parameter));
  const takesKey = field.args.some((argument) => argument.name === 'idempotencyKey');
  const input = field.args.find((argument) => argument.name === 'input');
  const takesBody = input !== undefined;
  const inputType = input && getNamedType(input.type);
  const inputMembers = new Set(isInputObjectType(inputType) ? Object.keys(inputType.getFields()).map(restName) : []);
  const hidden = [...pathArguments, 'input', 'idempotencyKey', 'last', 'before'];
  const queryArguments = new Map(
    field.args
      .filter((argument) => !hidden.includes(argument.name))
      .map((argument) => [restName(argument.name), argument]),
  );
  const missing = pathArguments.find((parameter) => !field.args.some((argument) => argument.name === parameter));
  if (missing) throw new Error(`${name}: ${row.field} has no argument ${missing}`);
  if (row.method === 'POST' && !takesKey) throw new Error(`${name}: ${row.field} takes no idempotencyKey`);

  const used = field.args.filter((argument) => !['last', 'before'].includes(argument.name));
  const variables = used.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
  const values = used.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  const selection = row.selection ? ` { ${inSnakeCase(row.selection)} }` : '';
  const source = `${kind} ${row.field}Rest${variables && `(${variables})`} { ${row.field}${values && `(${values})`}${selection} }`;
  return {
    ...row,
    operation: () => ownOperation(schema, name, source),
    pathArguments,
    queryArguments,
    takesBody,
    inputMembers,
    takesKey,
  };
}

/** Gives every field whose name has a capital letter an alias in snake_case, unless it has an alias already. */
export function inSnakeCase(selection: string): string {
  return selection.replace(/(\w+:\s*)?\b([a-z]+[A-Z]\w*)\b/g, (whole, alias: string | undefined, name: string) =>
    alias ? whole : `${snakeCase(name)}: ${name}`,
  );
}

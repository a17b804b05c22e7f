// A row of the REST surface, and which of it is for clients written for the original service.

import type { IncomingHttpHeaders } from 'node:http';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * What a client of REST is served: the specification to the letter, or what clients written for the original service know beyond it.
 * A request says by its version header which one it wants; the rows of the route table say in what they differ.
 */
export type Dialect = 'documented' | 'extended';

export const DIALECTS: readonly Dialect[] = ['documented', 'extended'];

/** The version header of the specification (section 9), as Node names it. */
const DOCUMENTED_VERSION_HEADER = 'service-version';

/**
 * The header in which a request says its version of the API.
 * @param names those that are accepted: the first that is there counts. @returns undefined when none is there.
 */
export function versionHeaderOf(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  return names.find((name) => headers[name] !== undefined);
}

/** The dialect of a request: the extended one when it says its version in an alias of the header alone. */
export function dialectOf(headers: IncomingHttpHeaders, names: readonly string[]): Dialect {
  const header = versionHeaderOf(headers, names);
  return header === undefined || header === DOCUMENTED_VERSION_HEADER ? 'documented' : 'extended';
}

/**
 * One row of the REST surface: where it lives, what it answers, and the GraphQL operation that does the work.
 * Path parameters and query parameters are arguments of that operation, the body is its `input`.
 */
export interface Route {
  method: Method;
  /** Parameters in the style of Express, in snake_case: `/edges/https/:edge_id/routes/:id`. */
  path: string;
  status: 200 | 201 | 204;
  /** A field of `Query` (GET) or `Mutation`. */
  field: string;
  /** What the answer shows, as a GraphQL selection: it is the documented body, member by member. */
  selection: string;
  /** Members that existing clients send for what does not exist here: null or empty stands for "not given". */
  ignoredMembers?: readonly string[];
  /** What the extended dialect has beyond the documented one; the row is the same in both when left out. */
  extended?: Extension;
  /** The row's name in the OpenAPI document, where each occurs once; its field when left out. */
  operationId?: string;
  /** Set where the path is another name of a path: its answers show URIs of the path that was asked. */
  alias?: { of: string; path: string };
}

/** How a row differs for clients written for the original service. */
export interface Extension {
  /** The documented dialect has no such row. */
  isOnly?: boolean;
  /** What the answer shows, in place of the row's `selection`. */
  selection?: string;
  /** Query parameters that the documented dialect refuses, and the argument that each stands for. */
  parameters?: Readonly<Record<string, string>>;
  /** A member of the body that may hold the whole input, beside what the path says. */
  wrapper?: string;
  /** Members of the answer, wherever they are in it, that are "" in place of null: clients take them for texts. */
  texts?: readonly string[];
}

export function route(
  method: Method,
  path: string,
  status: Route['status'],
  field: string,
  selection = '',
  more: Pick<Route, 'ignoredMembers' | 'extended' | 'operationId'> = {},
): Route {
  return { method, path, status, field, selection, ...more };
}

/** The rows of a dialect, each as it is there. */
export function routesOf(rows: readonly Route[], dialect: Dialect): Route[] {
  if (dialect === 'documented') return rows.filter(({ extended }) => !extended?.isOnly);
  return rows.map((row) => ({ ...row, selection: row.extended?.selection ?? row.selection }));
}

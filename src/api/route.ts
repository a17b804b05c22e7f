// A row of the REST surface.

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

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
  /** Set where the path is a newer name of another: which, and the row's name in the OpenAPI document. */
  alias?: { of: string; path: string; operationId: string };
}

export function route(
  method: Method,
  path: string,
  status: Route['status'],
  field: string,
  selection = '',
  ignoredMembers?: readonly string[],
): Route {
  return { method, path, status, field, selection, ignoredMembers };
}

// Newer names of REST paths: the same operations, whose answers show the URIs of the path that was asked.

import type { Route } from './route.ts';

/** What an answer shows as URIs of its own objects and pages. Those of other objects are never rewritten. */
const URI_MEMBERS = ['uri', 'next_page_uri'];

/**
 * The same rows under another path, with the list under another key.
 * @param operations how the rows are called in the OpenAPI document, where each name occurs once.
 */
export function aliasRoutes(
  rows: readonly Route[],
  [of, path]: [string, string],
  operations: (field: string) => string,
): Route[] {
  const [oldKey, key] = [of, path].map((each) => each.slice(1)) as [string, string];
  return rows.map((row) => ({
    ...row,
    path: row.path.replace(of, path),
    selection: row.selection.replace(`${oldKey}: nodes`, `${key}: nodes`),
    operationId: operations(row.operationId ?? row.field),
    alias: { of, path },
  }));
}

/** An answer of the older path, as the row's own path shows it. */
export function underAlias(body: unknown, { alias }: Pick<Route, 'alias'>, baseUrl: string): unknown {
  if (!alias) return body;
  const [from, to] = [baseUrl + alias.of, baseUrl + alias.path];
  return rewrite(body);

  function rewrite(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(rewrite);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const isOwn = URI_MEMBERS.includes(name) && typeof member === 'string' && member.startsWith(from);
        return [name, isOwn ? to + member.slice(from.length) : rewrite(member)];
      }),
    );
  }
}

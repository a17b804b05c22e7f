// What audit events show of an object: what its REST resource does.

import type { GraphQLSchema } from 'graphql';
import { type AuditedKind, auditedKinds } from './audit-kinds.ts';
import type { Context } from './context.ts';
import type { Operation } from './documents.ts';
import { ownOperation } from './own-operations.ts';
import { inSnakeCase } from './rest.ts';
import type { Route } from './route.ts';

/** An object of the caller's account as `GET` answers with it in this context; null when there is none. */
export type ShowObject = (context: Context, kind: AuditedKind, id: string) => Promise<object | null>;

/** Kinds without a REST resource. */
const selections: Partial<Record<AuditedKind, string>> = { user: 'id email role active createdAt' };

/** @throws {Error} naming the kind that has no row of the REST surface to take the object from: a start fails then. */
export function auditObjects(schema: GraphQLSchema, routes: readonly Route[]): ShowObject {
  const operations = new Map(auditedKinds.map((kind) => [kind, lookUpOf(schema, kind, selectionOf(kind, routes))]));
  return async (context, kind, id) => {
    const { data, errors } = await (operations.get(kind) as Operation).run({ id }, context);
    if (errors?.[0]) throw errors[0].originalError ?? errors[0];
    return (data as { node: object | null }).node;
  };
}

function selectionOf(kind: AuditedKind, routes: readonly Route[]): string {
  const row = routes.find(({ method, field, path }) => method === 'GET' && field === kind && path.endsWith('/:id'));
  const selection = row?.selection ?? selections[kind];
  if (!selection) throw new Error(`audit events: no GET row shows what a ${kind} is`);
  return selection;
}

/** By `node`, which takes no more than an id, whatever else is in the path of the resource. */
function lookUpOf(schema: GraphQLSchema, kind: AuditedKind, selection: string): Operation {
  const typeName = kind.charAt(0).toUpperCase() + kind.slice(1);
  const source = `query ${kind}Audit($id: ID!) { node(id: $id) { ... on ${typeName} { ${inSnakeCase(selection)} } } }`;
  return ownOperation(schema, `audit events of ${kind}`, source);
}

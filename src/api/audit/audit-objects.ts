// What audit events show of an object: what its REST resource does.

import type { GraphQLSchema } from 'graphql';
import type { WrittenRow } from '../audit-contract.ts';
import { auditedResources, giveRow } from '../collections/nodes.ts';
import type { Context } from '../context.ts';
import { internalOperation } from '../graphql/internal-operations.ts';
import { inSnakeCase } from '../naming.ts';
import type { AuditedResource } from '../resource.ts';
import type { Route } from '../route.ts';

/**
 * An object of the caller's account as `GET` answers with it in this context; null when there is none.
 * @param row of it, where that is known: what it has is not read again.
 */
export type LoadAuditObject = (
  context: Context,
  resource: AuditedResource,
  id: string,
  row?: WrittenRow,
) => Promise<object | null>;

/** @throws {Error} naming the kind that has no row of the REST surface to take the object from: a start fails then. */
export function createAuditObjectLoader(schema: GraphQLSchema, routes: readonly Route[]): LoadAuditObject {
  const sources = new Map(
    auditedResources().map((resource) => [resource.kind, auditQueryOf(resource.kind, selectionOf(resource, routes))]),
  );
  return async (context, { kind }, id, row) => {
    // The trail shows what was changed whole, also where a key with scopes has changed it.
    const whole = context.as({ ...context.caller, scopes: [] });
    if (row) giveRow(whole, row);
    const operation = internalOperation(schema, `audit events of ${kind}`, sources.get(kind) ?? '');
    const { data, errors } = await operation.run({ id }, whole);
    if (errors?.[0]) throw errors[0].originalError ?? errors[0];
    return (data as { node: object | null }).node;
  };
}

function selectionOf({ kind, audit }: AuditedResource, routes: readonly Route[]): string {
  const row = routes.find(({ method, field, path }) => method === 'GET' && field === kind && path.endsWith('/:id'));
  const selection = audit.selection ?? row?.selection;
  if (!selection) throw new Error(`audit events: no GET row shows what a ${kind} is`);
  return selection;
}

/** By `node`, which takes no more than an id, whatever else is in the path of the resource. */
function auditQueryOf(kind: string, selection: string): string {
  const typeName = kind.charAt(0).toUpperCase() + kind.slice(1);
  return `query ${kind}Audit($id: ID!) { node(id: $id) { ... on ${typeName} { ${inSnakeCase(selection)} } } }`;
}

// Who may use which root field. One wrapper around every root resolver, so that no resource can forget.

import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import type { Context } from '../context.ts';
import { ApiError, type ErrorName } from '../errors/errors.ts';
import { checkStorable, isStorable } from '../text-limits.ts';
import { checkScope, hasOwnScope, type NeededScope, neededScope, type OwnScope } from './key-scopes.ts';

/** Put on a root field as its `extensions`, to demand more than a key, or less. */
export interface FieldAccess {
  /** Only admins may use the field; others get this error. */
  adminsOnly?: ErrorName;
  /** A scope that is for this field alone, and allows it as `read` does. */
  ownScope?: OwnScope;
  /** Strangers may use the field, too. */
  allowsAnonymous?: boolean;
}

/** Makes every root field demand an API key or a browser session, and what its `extensions` say beyond that. */
export function enforceAccess(schema: GraphQLSchema): GraphQLSchema {
  const roots = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  for (const [type, root] of Object.entries(roots) as [keyof typeof roots, (typeof roots)['query']][])
    for (const field of Object.values(root?.getFields() ?? {})) protectField(field, neededScope(type, field.name));
  return schema;
}

function protectField(field: GraphQLField<unknown, Context>, needed: NeededScope): void {
  const { adminsOnly, allowsAnonymous, ownScope } = field.extensions as FieldAccess;
  const { resolve = defaultFieldResolver, subscribe } = field;
  const authorize = (context: Context, args: Record<string, unknown>) => {
    const isAdmin = !allowsAnonymous && context.caller.isAdmin;
    if (adminsOnly && !isAdmin) throw new ApiError(adminsOnly);
    if (!allowsAnonymous && !hasOwnScope(context, ownScope)) checkScope(context, needed, args);
    return storableArguments(args);
  };
  if (subscribe) {
    field.subscribe = (source, args, context, info) => {
      return subscribe(source, authorize(context, args), context, info);
    };
    return;
  }
  field.resolve = (source, args, context, info) => {
    return resolve(source, authorize(context, args), context, info);
  };
}

/** The arguments that are no ids; those of lists check themselves. */
const NO_IDS = new Set(['input', 'filter', 'orderBy', 'search']);

/** Refuses input that the database cannot hold. An id it cannot hold is one that nothing has, like the empty one. */
function storableArguments(args: Record<string, unknown>): Record<string, unknown> {
  if (args.input !== undefined) checkStorable(args.input);
  const names = Object.keys(args).filter((name) => !NO_IDS.has(name) && !isStorable(args[name]));
  return names.length === 0 ? args : { ...args, ...Object.fromEntries(names.map((name) => [name, ''])) };
}

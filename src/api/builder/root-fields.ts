// Who may use which root field, and what it costs: options of each field, which the types demand, so that none is forgotten.

import SchemaBuilder, {
  BasePlugin,
  type FieldNullability,
  type InputFieldMap,
  type PothosOutputFieldConfig,
  type SchemaTypes,
  type TypeParam,
} from '@pothos/core';
import type { GraphQLField, GraphQLFieldResolver } from 'graphql';
import type { Context } from '../context.ts';
import { ApiError, type ErrorName, readInputPath } from '../errors/errors.ts';
import { snakeCase } from '../naming.ts';
import { checkStorable, isStorable } from '../text-limits.ts';

/** Who may use a root field: callers with an API key or a browser session, within these limits; `anyone`: strangers, too. */
export type FieldAccess = 'anyone' | RestrictedAccess;

export interface RestrictedAccess {
  /**
   * The kind of object that it is about: an API key with scopes needs `<kind>:read` for a query or a subscription, and `<kind>:write`
   * for a mutation. Null when it is about none, or several: then reading needs the scope `read`, and only keys without scopes write.
   */
  kind: string | null;
  /** Only admins may use it; others get this error. */
  adminsOnly?: ErrorName;
  /** A scope for this field alone, which allows it as well. */
  ownScope?: OwnScope;
}

/** Scopes of what is no reading and no writing of an object. */
export const OWN_SCOPES = ['policy:try'] as const;
export type OwnScope = (typeof OWN_SCOPES)[number];

/** Whoever may change these could give itself more than its scopes: no scope allows it. */
export const KINDS_NEVER_WRITTEN: ReadonlySet<string> = new Set(['apiKey', 'user', 'bulkJob']);

/** `<kind>:read` or `<kind>:write`, for all objects of the kind or, with `:<id>`, for one. */
export const SCOPE = /^([a-z_]+):(read|write)(?::([A-Za-z0-9_]{1,64}))?$/;

interface RootFieldOptions {
  access: FieldAccess;
}

interface FieldExtensions {
  access?: FieldAccess;
  weight?: number;
  callsExternalService?: boolean;
}

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      rootFields: RootFieldsPlugin<Types>;
    }
    export interface FieldOptions<
      Types extends SchemaTypes,
      ParentShape,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > {
      /** What it weighs in the cost of a document, in fields of an answer; 1 when left out. See `field-cost.ts`. */
      weight?: number;
    }
    export interface QueryFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > extends RootFieldOptions {}
    export interface MutationFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveReturnShape,
    > extends RootFieldOptions {
      /** Whether it waits for a service of somebody else: then no transaction is open meanwhile. */
      callsExternalService?: boolean;
    }
    export interface SubscriptionFieldOptions<
      Types extends SchemaTypes,
      Type extends TypeParam<Types>,
      Nullable extends FieldNullability<Type>,
      Args extends InputFieldMap,
      ResolveShape,
      ResolveReturnShape,
    > extends RootFieldOptions {}
  }
}

type Resolver<Types extends SchemaTypes> = GraphQLFieldResolver<unknown, Types['Context'], object>;

/** Stands outside all other plugins: nothing of a field runs before its caller is known to be allowed. */
class RootFieldsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    const { access, weight, callsExternalService } = field.pothosOptions as FieldExtensions;
    const given = { access, weight, callsExternalService };
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    return { ...field, extensions: { ...field.extensions, ...known } };
  }

  override wrapResolve(resolver: Resolver<Types>, field: PothosOutputFieldConfig<Types>): Resolver<Types> {
    const { kind } = field;
    if (kind !== 'Query' && kind !== 'Mutation') return resolver;
    const access = accessOf(field);
    const resolve: Resolver<Types> = (source, args, context, info) =>
      resolver(source, allowedArguments(access, kind, context, args), context, info);
    return 'input' in field.args ? placingProblems(resolve, Object.keys(field.args)) : resolve;
  }

  override wrapSubscribe(subscriber: Resolver<Types> | undefined, field: PothosOutputFieldConfig<Types>) {
    if (!subscriber) return subscriber;
    const access = accessOf(field);
    const subscribe: Resolver<Types> = (source, args, context, info) =>
      subscriber(source, allowedArguments(access, 'Subscription', context, args), context, info);
    return subscribe;
  }
}

/**
 * Resolvers call members of `input` by their own names, and arguments by theirs: in the paths of problems, each stands below its
 * argument.
 */
function placingProblems<Types extends SchemaTypes>(
  resolver: Resolver<Types>,
  argumentNames: readonly unknown[],
): Resolver<Types> {
  const placed = (error: unknown) => {
    for (const problem of error instanceof ApiError ? error.problems : []) {
      const path = readInputPath(problem.member ?? '');
      problem.inputPath ??= argumentNames.includes(path[0]) ? path : ['input', ...path];
    }
    return error;
  };
  return (...call) => {
    try {
      const result = resolver(...call);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        throw placed(error);
      });
    } catch (error) {
      throw placed(error);
    }
  };
}

/** @throws {Error} for a field that got past the types without one. */
function accessOf({ name, extensions }: { name: string; extensions?: unknown }): FieldAccess {
  const { access } = (extensions ?? {}) as FieldExtensions;
  if (!access) throw new Error(`${name} does not say who may use it`);
  return access;
}

const pluginName = 'rootFields';
SchemaBuilder.registerPlugin(pluginName, RootFieldsPlugin);
export default pluginName;

/** Who may use a root field of the schema; undefined for any other field. */
export function accessOfField({ extensions }: GraphQLField<unknown, unknown>): FieldAccess | undefined {
  return (extensions as FieldExtensions).access;
}

/** Whether a mutation waits for a service of somebody else. */
export function callsExternalService(field: GraphQLField<unknown, unknown> | undefined): boolean {
  return (field?.extensions as FieldExtensions | undefined)?.callsExternalService === true;
}

/** @returns the arguments as they may be used. @throws {ApiError} when the caller may not use the field. */
function allowedArguments<A extends object>(
  access: FieldAccess,
  type: 'Query' | 'Mutation' | 'Subscription',
  given: object,
  args: A,
): A {
  const context = given as Context; // Plugins are generic; the builder has this context.
  if (access !== 'anyone') {
    const { kind, adminsOnly, ownScope } = access;
    const { caller } = context;
    if (adminsOnly && !caller.isAdmin) throw new ApiError(adminsOnly);
    if (!hasOwnScope(context, ownScope)) {
      const isRead = type !== 'Mutation';
      const scoped = isRead || kind === null || !KINDS_NEVER_WRITTEN.has(kind) ? kind : null;
      checkScope(context, { isRead, kind: scoped }, 'id' in args ? args.id : undefined);
    }
  }
  return storableArguments(args);
}

interface NeededScope {
  isRead: boolean;
  kind: string | null;
}

/** @throws {ApiError} when the key that the caller has come with may not do that. */
function checkScope({ caller }: Context, needed: NeededScope, id: unknown): void {
  const { scopes = [] } = caller;
  if (scopes.length === 0 || scopes.some((scope) => allowsOperation(scope, needed, id))) return;
  throw new ApiError('scopeMissing', { scope: scopeOf(needed) });
}

/**
 * @param kind null where it is none that scopes name: then only "read" allows it.
 * @param id of the object that another one names; left out: a list of objects that belong to another one.
 * @throws {ApiError} when the key that the caller has come with may not read that.
 */
export function checkReadScope(context: Context, kind: string | null, id?: string): void {
  checkScope(context, { isRead: true, kind }, id);
}

/** Whether the key that the caller has come with was given this scope. */
function hasOwnScope({ caller }: Context, scope: OwnScope | undefined): boolean {
  return scope !== undefined && caller.scopes?.includes(scope) === true;
}

/** @throws {ApiError} when the key that the caller has come with has scopes, and this is none of them. */
export function checkOwnScope(context: Context, scope: OwnScope): void {
  const { scopes = [] } = context.caller;
  if (scopes.length > 0 && !hasOwnScope(context, scope)) throw new ApiError('scopeMissing', { scope: `"${scope}"` });
}

function allowsOperation(scope: string, { isRead, kind }: NeededScope, id: unknown): boolean {
  if (scope === 'read') return isRead;
  const [, resource, access, only] = SCOPE.exec(scope) ?? [];
  return (
    kind !== null &&
    resource === snakeCase(kind) &&
    (isRead || access === 'write') &&
    (only === undefined || only === id)
  );
}

function scopeOf({ isRead, kind }: NeededScope): string {
  if (kind === null) return isRead ? '"read"' : 'none: a key without scopes';
  return `"${snakeCase(kind)}:${isRead ? 'read' : 'write'}"`;
}

/** The arguments that are no ids; those of lists check themselves. */
const NO_IDS = new Set(['input', 'where', 'filter', 'filterVariables', 'orderBy', 'order', 'search']);

/** Refuses input that the database cannot hold. An id it cannot hold is one that nothing has, like the empty one. */
function storableArguments<A extends object>(args: A): A {
  if ('input' in args && args.input !== undefined) checkStorable(args.input);
  const names = Object.entries(args).flatMap(([name, value]) => (NO_IDS.has(name) || isStorable(value) ? [] : [name]));
  return names.length === 0 ? args : { ...args, ...Object.fromEntries(names.map((name) => [name, ''])) };
}

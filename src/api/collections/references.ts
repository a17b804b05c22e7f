// Fields that lead to another object are that object. Its id and its URI are known from the row that names it: who asks for no
// more, as REST does, causes no query.

import { type GraphQLResolveInfo, getNamedType, isAbstractType, Kind, type SelectionSetNode } from 'graphql';
import type { ObjectRow, ObjectRowRef } from '../builder/builder.ts';
import { checkReadScope } from '../builder/root-fields.ts';
import type { Context } from '../context.ts';
import { requireFound } from '../errors/errors.ts';
import { nounOf } from '../naming.ts';
import { registeredResources, resourceOf } from './nodes.ts';
import { loadRow, rowLoadOf } from './row-loads.ts';

/** What names an object: its id, or with the id what else its URI is made of. */
type Named = ObjectRow | string;
type MaybeNamed = Named | null | undefined;

/** The names that are known without the object. */
const KNOWN_NAMES: ReadonlySet<string> = new Set(['id', 'uri', '__typename']);

/** Options of a field that names an object which may be gone. REST, which shows the names alone, always has them. */
export const ALWAYS_NAMED = { nullable: true, extensions: { isAlwaysNamed: true } } as const;
export const WHEN_GONE =
  'It may be gone: then `id` and `uri` are still told, and it is null for whoever asks for more.';

/**
 * The GraphQL type of a kind of object, for fields in files that must not import it: two kinds may lead to each other.
 * To be called once the schema is loaded, as in `fields`.
 * @throws {Error} for a kind that there is not.
 */
export function typeOfKind(kind: string): ObjectRowRef {
  const ref = registeredResources().find((resource) => resource.kind === kind)?.ref;
  if (!ref) throw new Error(`there is no kind of object "${kind}"`);
  return ref;
}

/**
 * A resolver of a field that leads to an object.
 * @param nameOf gives what names it, of the row that the field is of.
 * @returns the object. Of one that is gone only `id` and `uri` are known, which is what they once were; with other members it is
 *   null. API keys with scopes need that to read objects of its kind, if they ask for more than these.
 */
export function reference<Row>(nameOf: (row: Row, context: Context) => MaybeNamed | Promise<MaybeNamed>) {
  return (row: Row, _args: object, context: Context, info: GraphQLResolveInfo): never => {
    const named = nameOf(row, context);
    // The resolver's type is that of any object type: what is loaded is a row of it.
    return (
      named instanceof Promise ? named.then((it) => objectNamed(it, context, info)) : objectNamed(named, context, info)
    ) as never;
  };
}

/** The same of an object that is there as long as what names it. @throws {ApiError} when both go while they are read. */
export function requiredReference<Row>(nameOf: (row: Row, context: Context) => Named) {
  return (row: Row, _args: object, context: Context, info: GraphQLResolveInfo): never => {
    const named = nameOf(row, context);
    const kind = () => nounOf(resourceOf(idOf(named))?.kind ?? 'object');
    const found = objectNamed(named, context, info);
    return (found instanceof Promise ? found.then((it) => requireFound(it, kind())) : found) as never;
  };
}

/** The same of a list of objects. Those that are gone are left out where more than their names is asked for. */
export function references<Row>(namesOf: (row: Row, context: Context) => readonly Named[] | Promise<readonly Named[]>) {
  return async (row: Row, _args: object, context: Context, info: GraphQLResolveInfo): Promise<never> => {
    const named = await namesOf(row, context);
    const found = await Promise.all(named.map((it) => objectNamed(it, context, info)));
    return found.filter((it) => it !== null) as never;
  };
}

function objectNamed(
  named: MaybeNamed,
  context: Context,
  info: GraphQLResolveInfo,
): ObjectRow | Promise<ObjectRow | null> | null {
  if (named === null || named === undefined) return null;
  const id = idOf(named);
  const resource = resourceOf(id);
  const isOfNames = isOfNamesOnly(context, info);
  // Nothing is to be said of what is no object of the API, not even its type.
  if (!resource && (!isOfNames || isAbstractType(getNamedType(info.returnType)))) return null;
  if (isOfNames || !resource) return typeof named === 'string' ? { id: named } : named;
  checkReadScope(context, resource.kind, id);
  return loadRow(context, id, rowLoadOf(resource, context, info)).then((row) => row ?? null);
}

const namesOnly = new WeakMap<Context, WeakMap<object, boolean>>();

/** Whether a document asks a field for no more than the names of what it leads to: the same for every row that has the field. */
function isOfNamesOnly(context: Context, info: GraphQLResolveInfo): boolean {
  const ofContext = namesOnly.get(context) ?? new WeakMap<object, boolean>();
  namesOnly.set(context, ofContext);
  const { fieldNodes } = info; // Executors have one list for all rows.
  const known = ofContext.get(fieldNodes) ?? asksForNamesOnly(info);
  ofContext.set(fieldNodes, known);
  return known;
}

const idOf = (named: Named) => (typeof named === 'string' ? named : named.id);

function asksForNamesOnly({ fieldNodes, fragments }: GraphQLResolveInfo): boolean {
  const selectsNames = (set: SelectionSetNode | undefined): boolean =>
    set === undefined ||
    set.selections.every((node) => {
      if (node.kind === Kind.FIELD) return KNOWN_NAMES.has(node.name.value);
      return selectsNames(
        node.kind === Kind.INLINE_FRAGMENT ? node.selectionSet : fragments[node.name.value]?.selectionSet,
      );
    });
  return fieldNodes.every(({ selectionSet }) => selectsNames(selectionSet));
}

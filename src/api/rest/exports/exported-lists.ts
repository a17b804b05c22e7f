// Which lists can be downloaded, and what their rows show: what REST shows of them, or else all their plain members.

import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { type Collection, registeredCollections } from '../../collections/collection.ts';
import { exportPathOf } from '../../collections/exports.ts';
import { internalOperation } from '../../graphql/internal-operations.ts';
import type { PreparedOperation } from '../../graphql/operation.ts';
import { inSnakeCase } from '../../naming.ts';
import type { Route } from '../../route.ts';

/** A list, ready to be downloaded. */
export interface ExportedList {
  /** Of the download. */
  path: string;
  list: Collection;
  /** Answers with `rows`, and with `total` where `counting` is true. Prepared when it is first read. */
  readonly operation: PreparedOperation;
  /** The columns of CSV: members by their names in REST, those of objects with a dot. */
  readonly columns: readonly string[];
}

export function prepareExports(schema: GraphQLSchema, routes: readonly Route[]): ExportedList[] {
  return registeredCollections().map((list) => {
    const { plural, typeName } = list;
    const type = schema.getType(typeName) as GraphQLObjectType;
    const selection = inSnakeCase(shownByRest(plural, routes) ?? plainMembers(type));
    const source = `query ${plural}Export($filter: String, $order: String, $search: String, $counting: Boolean!) {
      list: ${plural}(filter: $filter, order: $order, search: $search) {
        rows: nodes { ${selection} } total: totalCount @include(if: $counting) } }`;
    const columns = () => columnsOf(schema, type, rowsOf(prepared.operation));
    const prepared = {
      path: exportPathOf(list),
      list,
      get operation() {
        return internalOperation(schema, `export of ${plural}`, source);
      },
      get columns() {
        return columns();
      },
    };
    return prepared;
  });
}

function shownByRest(plural: string, routes: readonly Route[]): string | undefined {
  const row = routes.find(({ method, field }) => method === 'GET' && field === plural);
  // Downloads are not in the specification: they have all that is known.
  const shown = row?.extended?.selection ?? row?.selection ?? '';
  return /: nodes \{ (.*) \} uri nextPageUri$/s.exec(shown)?.[1];
}

/** All members of a type that are values, and the references to other objects. */
function plainMembers(type: GraphQLObjectType): string {
  return Object.values(type.getFields())
    .filter(({ args }) => args.length === 0)
    .flatMap(({ name, type: ofField }) => {
      const inner = getNamedType(ofField);
      if (isLeafType(inner)) return name;
      const isReference = (isObjectType(inner) || isInterfaceType(inner)) && inner.getFields().uri !== undefined;
      return isReference && !isListType(getNullableType(ofField)) ? `${name} { id uri }` : [];
    })
    .join(' ');
}

function rowsOf({ definition }: PreparedOperation): SelectionSetNode {
  const first = (set: SelectionSetNode) => (set.selections[0] as FieldNode).selectionSet as SelectionSetNode;
  return first(first(definition.selectionSet)); // As it is written above.
}

function columnsOf(schema: GraphQLSchema, type: GraphQLNamedType, set: SelectionSetNode, prefix = ''): string[] {
  return set.selections.flatMap((selection) => {
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const ofFragment = schema.getType(selection.typeCondition?.name.value ?? '') ?? type;
      return columnsOf(schema, ofFragment, selection.selectionSet, prefix);
    }
    if (selection.kind !== Kind.FIELD) return [];
    const field = (type as GraphQLObjectType).getFields()[selection.name.value];
    const name = prefix + (selection.alias ?? selection.name).value;
    if (!field || !selection.selectionSet || isListType(getNullableType(field.type))) return [name];
    return columnsOf(schema, getNamedType(field.type), selection.selectionSet, `${name}.`);
  });
}

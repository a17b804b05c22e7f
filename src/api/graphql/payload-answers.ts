// How REST, the events and the downloads read what mutations give: as the object alone, in which what is shown once has a place, too. The
// operations behind them are written like that; they are asked by the payloads of the schema, and their answers put together again.

import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isObjectType,
  Kind,
  type NameNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import { payloadOf } from '../builder/payloads.ts';

type Members = Record<string, GraphQLField<unknown, unknown>>;
const known = new WeakMap<GraphQLSchema, Map<string, Members>>();

/** What only the payload of a mutation shows of the objects of a type, by its name there. */
export function shownOnce(schema: GraphQLSchema, typeName: string): Members {
  const members = known.get(schema) ?? allShownOnce(schema);
  known.set(schema, members);
  return members.get(typeName) ?? {};
}

function allShownOnce(schema: GraphQLSchema): Map<string, Members> {
  const found = new Map<string, Members>();
  for (const mutation of Object.values(schema.getMutationType()?.getFields() ?? {})) {
    const { member, secrets = [] } = payloadOf(mutation) ?? {};
    const fields = fieldsOf(getNamedType(mutation.type));
    const object = member === undefined ? undefined : fields[member];
    if (!object || secrets.length === 0) continue;
    const { name } = getNamedType(object.type);
    const shown = secrets.map((secret) => [secret, fields[secret]]);
    found.set(name, { ...Object.fromEntries(shown), ...found.get(name) });
  }
  return found;
}

/** The type that a field answers with for REST: of a mutation, what its payload is about. */
export function answerType(field: GraphQLField<unknown, unknown>): GraphQLField<unknown, unknown>['type'] {
  const { member } = payloadOf(field) ?? {};
  const object = member === undefined ? undefined : fieldsOf(getNamedType(field.type))[member];
  return object?.type ?? field.type;
}

interface Answerable {
  /** To be asked. */
  document: DocumentNode;
  /** Its answer as that of the document that was written. */
  answerOf(result: ExecutionResult): ExecutionResult;
}

/** @param written with one operation and no fragments of its own. */
export function withPayloads(schema: GraphQLSchema, written: DocumentNode): Answerable {
  const [definition] = written.definitions;
  if (definition?.kind !== Kind.OPERATION_DEFINITION) return { document: written, answerOf: (result) => result };
  const isMutation = definition.operation === 'mutation';
  const root = isMutation ? schema.getMutationType() : schema.getQueryType();
  if (!root) return { document: written, answerOf: (result) => result };
  const places: Place[] = [];
  const asked = asAsked(schema, root, definition.selectionSet, [], places);
  const selections = isMutation
    ? asked.selections.map((node) =>
        node.kind === Kind.FIELD ? inPayload(root.getFields()[node.name.value], node, places) : node,
      )
    : asked.selections;
  const selectionSet = { ...asked, selections };
  // The text stays what was written: stored answers are found by it.
  const document = { ...written, definitions: [{ ...definition, selectionSet }] };
  return {
    document,
    answerOf: (result) =>
      result.data && (isMutation || places.length > 0)
        ? { ...result, data: filled(result.data, root, places) }
        : result,
  };
}

/** Where an answer has a member that only payloads have. */
interface Place {
  path: readonly string[];
  member: string;
}

function asAsked(
  schema: GraphQLSchema,
  type: GraphQLNamedType,
  set: SelectionSetNode,
  path: readonly string[],
  places: Place[],
): SelectionSetNode {
  const isMutation = type === schema.getMutationType();
  const selections = set.selections.map((selection): SelectionNode => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return selection;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const inner = schema.getType(selection.typeCondition?.name.value ?? type.name) ?? type;
      return { ...selection, selectionSet: asAsked(schema, inner, selection.selectionSet, path, places) };
    }
    const { name, alias = name, selectionSet } = selection;
    const here = [...path, alias.value];
    const field = fieldsOf(type)[name.value];
    if (!field && name.value in shownOnce(schema, type.name)) {
      places.push({ path: here, member: name.value });
      return { ...selection, alias, name: nameNode('__typename') }; // It keeps the place.
    }
    if (!field || !selectionSet) return selection;
    const inner = getNamedType(isMutation ? answerType(field) : field.type);
    return { ...selection, selectionSet: asAsked(schema, inner, selectionSet, here, places) };
  });
  return { ...set, selections };
}

function inPayload(
  field: GraphQLField<unknown, unknown> | undefined,
  node: FieldNode,
  places: readonly Place[],
): FieldNode {
  const { member, secrets } = payloadOf(field) ?? { secrets: [] };
  const object = member === undefined ? undefined : fieldsOf(getNamedType(field?.type))[member];
  if (member === undefined || !object) return { ...node, selectionSet: selectionOf([fieldNode('__typename')]) };
  const isWanted = (secret: string) =>
    places.some(({ path, member: name }) => name === secret && path.length === 2 && path[0] === node.name.value);
  const wanted = secrets.filter(isWanted).map((secret) => fieldNode(secret));
  return { ...node, selectionSet: selectionOf([fieldNode(member, node.selectionSet), ...wanted]) };
}

/** The answer as it was asked for in the document that was written. */
function filled(
  data: Record<string, unknown>,
  root: GraphQLNamedType,
  places: readonly Place[],
): Record<string, unknown> {
  const answer: Record<string, unknown> = { ...data };
  for (const [name, payload] of Object.entries(data)) {
    const { member } = payloadOf(fieldsOf(root)[name]) ?? {};
    if (member !== undefined) answer[name] = (payload as Record<string, unknown> | null)?.[member] ?? null;
  }
  for (const { path, member } of places) {
    const [name = '', ...below] = path;
    const payload = payloadOf(fieldsOf(root)[name]) ? (data[name] as Record<string, unknown> | null) : null;
    const shown = below.length === 1 ? (payload?.[member] ?? null) : null;
    put(answer[name], below, shown);
  }
  return answer;
}

function put(value: unknown, [name, ...below]: readonly string[], shown: unknown): void {
  if (Array.isArray(value)) for (const one of value) put(one, [name ?? '', ...below], shown);
  else if (typeof value === 'object' && value !== null && name !== undefined && name in value) {
    const row = value as Record<string, unknown>;
    if (below.length === 0) row[name] = shown;
    else put(row[name], below, shown);
  }
}

function fieldsOf(type: GraphQLNamedType | undefined): Members {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
}

const nameNode = (value: string): NameNode => ({ kind: Kind.NAME, value });
const selectionOf = (selections: readonly SelectionNode[]): SelectionSetNode => ({
  kind: Kind.SELECTION_SET,
  selections,
});
const fieldNode = (name: string, selectionSet?: SelectionSetNode): FieldNode => ({
  kind: Kind.FIELD,
  name: nameNode(name),
  ...(selectionSet ? { selectionSet } : {}),
});

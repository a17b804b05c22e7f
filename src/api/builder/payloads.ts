// What mutations answer with: an object type of their own each, `<Name>Payload`, in which a client's store finds what changed. A mutation
// is written as if it answered with its object alone. Here that becomes a member of the payload: its resolver is told what is selected
// below that member, so that it reads the same columns and relations as before.

import SchemaBuilder, {
  BasePlugin,
  type ObjectRef,
  type PothosOutputFieldConfig,
  type PothosOutputFieldType,
  type SchemaTypes,
} from '@pothos/core';
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  getNamedType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** What the fields of a payload are resolved from. */
export interface PayloadSource {
  /** What the mutation has given. */
  result: unknown;
  /** What it was asked with. */
  args: Record<string, unknown>;
}

const ONCE = Symbol('shown once');

/** What a mutation gives where its payload also shows secrets, this once: the row, and they apart from its columns. */
export function showOnce<T extends object>(row: T, secrets: Readonly<Record<string, string>>): T {
  return { ...row, [ONCE]: secrets };
}

/** A secret that was given with `showOnce`; null for none. */
export function shownOnceOf({ result }: PayloadSource, secret: string): string | null {
  return (result as { [ONCE]?: Record<string, string> })[ONCE]?.[secret] ?? null;
}

/** Which member of a payload is what: what REST answers with is the one member, with the secrets in it. */
export interface PayloadShape {
  /** The member that is what the resolver gives; undefined where it gives nothing to show. */
  member: string | undefined;
  /** The edge of a list that has the same object as its node. */
  edge: string | undefined;
  /** Members that are shown this once: of the object that the resolver gives, where they are no fields. */
  secrets: readonly string[];
}

interface Payload extends PayloadShape {
  ref: ObjectRef<never, PayloadSource>;
}

const payloads = new Map<string, Payload>();

/** Has a mutation answer with a payload. @param name the mutation's. */
export function registerPayload(name: string, payload: Payload): void {
  payloads.set(name, payload);
}

/** The payload of a mutation of the schema; undefined for any other field. */
export function payloadOf(field: GraphQLField<unknown, unknown> | undefined): PayloadShape | undefined {
  return field?.extensions.payload as PayloadShape | undefined;
}

declare global {
  export namespace PothosSchemaTypes {
    export interface Plugins<Types extends SchemaTypes> {
      payloads: PayloadsPlugin<Types>;
    }
  }
}

const PAYLOAD = 'Payload';

class PayloadsPlugin<Types extends SchemaTypes> extends BasePlugin<Types> {
  override onOutputFieldConfig(field: PothosOutputFieldConfig<Types>): PothosOutputFieldConfig<Types> {
    if (field.kind === 'Mutation') {
      const payload = payloads.get(field.name);
      if (!payload) throw new Error(`${field.name} does not say what its payload is: see \`mutation()\``);
      const { ref, member, edge, secrets } = payload;
      const type = { kind: 'Object', ref, nullable: field.type.nullable } as unknown as PothosOutputFieldType<Types>;
      return { ...field, type, extensions: { ...field.extensions, payload: { member, edge, secrets } } };
    }
    const { parentType } = field;
    if (!parentType.endsWith(PAYLOAD)) return field;
    const name = parentType.charAt(0).toLowerCase() + parentType.slice(1, -PAYLOAD.length);
    if (payloads.get(name)?.member !== field.name) return field;
    // It is what the mutation was written to answer with. There is a payload only where there is one.
    const written = this.builder.configStore.getFields('Mutation').get(name);
    return written ? { ...field, type: { ...(written.type as PothosOutputFieldType<Types>), nullable: false } } : field;
  }

  override wrapResolve(
    resolver: GraphQLFieldResolver<unknown, Types['Context'], object>,
    { kind, name }: PothosOutputFieldConfig<Types>,
  ): GraphQLFieldResolver<unknown, Types['Context'], object> {
    const payload = kind === 'Mutation' ? payloads.get(name) : undefined;
    if (!payload) return resolver;
    return async (source, args, context, info) => {
      const result = await resolver(source, args, context, infoOfMember(info, payload));
      return result === null || result === undefined ? null : { result, args };
    };
  }
}

/** What a resolver is told that gives a member of the payload: what is selected below that, and below the node of the edge. */
function infoOfMember(info: GraphQLResolveInfo, { member, edge }: PayloadShape): GraphQLResolveInfo {
  if (member === undefined) return info;
  const selected = info.fieldNodes.flatMap((node) => fieldsNamed(info, node.selectionSet, member));
  const nodes = edge
    ? info.fieldNodes
        .flatMap((node) => fieldsNamed(info, node.selectionSet, edge))
        .flatMap((node) => fieldsNamed(info, node.selectionSet, 'node'))
    : [];
  const type = getNamedType(info.returnType) as GraphQLObjectType;
  const { type: returnType } = type.getFields()[member] as GraphQLField<unknown, unknown>;
  const key = (selected[0]?.alias ?? selected[0]?.name)?.value ?? member;
  const path = { prev: info.path, key, typename: type.name };
  const wanted = [...selected, ...nodes];
  // Where nothing of it is selected, its row is written and read all the same.
  return { ...info, returnType, fieldNodes: wanted.length > 0 ? wanted : [nothingOf(member)], path };
}

function nothingOf(member: string): FieldNode {
  const name = (value: string) => ({ kind: Kind.NAME, value }) as const;
  const selections = [{ kind: Kind.FIELD, name: name('__typename') }] as const;
  return { kind: Kind.FIELD, name: name(member), selectionSet: { kind: Kind.SELECTION_SET, selections } };
}

function fieldsNamed(info: GraphQLResolveInfo, set: SelectionSetNode | undefined, name: string): FieldNode[] {
  return (set?.selections ?? []).flatMap((selection) => {
    if (!isIncluded(selection, info)) return [];
    if (selection.kind === Kind.FIELD) return selection.name.value === name ? [selection] : [];
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : info.fragments[selection.name.value];
    return fieldsNamed(info, inner?.selectionSet, name);
  });
}

function isIncluded(selection: SelectionNode, { variableValues }: GraphQLResolveInfo): boolean {
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if !== false
  );
}

const pluginName = 'payloads';
SchemaBuilder.registerPlugin(pluginName, PayloadsPlugin);
export default pluginName;

// How large a GraphQL operation may be. One walk over the document counts everything; fragments count where they are
// used.

import {
  type ASTVisitor,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  getNamedType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValidationContext,
} from 'graphql';
import { ApiError } from './errors.ts';
import { PAGE_MAX } from './page.ts';

export const TOKENS_MAX = 2000;
const DEPTH_MAX = 16;
const ROOT_FIELDS_MAX = 20;
const ALIASES_MAX = 50;
/** Fields in the answer, taking each page to be as long as it may be and every other list to have ten entries. */
const COST_MAX = 90_000;
const LIST_LENGTH = 10;
/** Fragments let a short document be exponentially long; the walk itself ends here. */
const STEPS_MAX = 20_000;

/** A validation rule: refuses operations that are too deep, too wide, or whose answer could be too large. */
export function withinLimits(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation) {
      const root = context.getSchema().getRootType(operation.operation);
      if (!root) return;
      const reason = measure(context, operation.selectionSet, root);
      if (reason) context.reportError(new ApiError('documentTooComplex', { reason }));
    },
  };
}

function measure(
  context: ValidationContext,
  selectionSet: SelectionSetNode,
  root: GraphQLNamedType,
): string | undefined {
  let aliases = 0;
  let steps = 0;
  let cost = 0;
  let rootFields = 0;
  const open = new Set<FragmentDefinitionNode>();

  const walk = (set: SelectionSetNode, type: GraphQLNamedType, depth: number, times: number): string | undefined => {
    if (depth > DEPTH_MAX) return `it is more than ${DEPTH_MAX} levels deep`;
    for (const selection of set.selections) {
      if (++steps > STEPS_MAX) return 'its fragments repeat too much';
      if (selection.kind === Kind.FIELD) {
        if (depth === 1 && ++rootFields > ROOT_FIELDS_MAX) return `it has more than ${ROOT_FIELDS_MAX} root fields`;
        if (selection.alias && ++aliases > ALIASES_MAX) return `it has more than ${ALIASES_MAX} aliases`;
        cost += times;
        if (cost > COST_MAX) return `its answer could have more than ${COST_MAX} fields`;
        const field = fieldOf(type, selection.name.value);
        if (!field || !selection.selectionSet) continue;
        // The rows of a page are counted by the page's size, not as a list of their own.
        const isOwnList = isList(field.type) && !type.name.endsWith('Connection');
        const size = pageSize(selection, field) ?? (isOwnList ? LIST_LENGTH : 1);
        const reason = walk(selection.selectionSet, getNamedType(field.type), depth + 1, times * size);
        if (reason) return reason;
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition && context.getSchema().getType(selection.typeCondition.name.value);
        const reason = walk(selection.selectionSet, condition ?? type, depth, times);
        if (reason) return reason;
      } else {
        const fragment = context.getFragment(selection.name.value);
        if (!fragment || open.has(fragment)) continue; // Other rules report unknown fragments and cycles.
        open.add(fragment);
        const reason = walk(
          fragment.selectionSet,
          context.getSchema().getType(fragment.typeCondition.name.value) ?? type,
          depth,
          times,
        );
        open.delete(fragment);
        if (reason) return reason;
      }
    }
    return undefined;
  };
  return walk(selectionSet, root, 1, 1);
}

function fieldOf(type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

function isList(type: GraphQLOutputType): boolean {
  return isListType(isNonNullType(type) ? type.ofType : type);
}

/**
 * A page counts with its `first` or `last` where the document says it, and with the largest size otherwise, as do the
 * objects of a list of ids.
 * @returns undefined for what is neither.
 */
function pageSize({ arguments: given = [] }: FieldNode, { args }: GraphQLField<unknown, unknown>): number | undefined {
  if (args.some(({ name }) => name === 'ids')) return PAGE_MAX;
  if (!args.some(({ name }) => name === 'first')) return undefined;
  const size = given.find(({ name }) => name.value === 'first' || name.value === 'last')?.value;
  return size?.kind === Kind.INT ? Math.min(PAGE_MAX, Math.max(1, Number(size.value))) : PAGE_MAX;
}

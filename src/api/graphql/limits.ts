// How large a GraphQL document may be. One walk of its own, before any rule of GraphQL is looked at, counts everything;
// fragments count where they are used.

import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TokenKind,
  TypeMetaFieldDef,
} from 'graphql';
import { COST_MAX, weightOf } from '../builder/field-cost.ts';
import { PAGE_MAX } from '../collections/page.ts';
import { ApiError } from '../errors/errors.ts';
import { Parts, typeNamedIn } from './introspection-size.ts';

export const TOKENS_MAX = 2000;
const DEPTH_MAX = 16;
/** Brackets and braces inside each other: also those of values. */
const NESTING_MAX = 64;
const OPERATIONS_MAX = 50;
const ROOT_FIELDS_MAX = 20;
const ALIASES_MAX = 50;
// A rule of GraphQL compares each with every other: fields that stand beside one of the same name, and fragments that
// meet in one selection.
const REPEATS_MAX = 100;
const SPREADS_MAX = 30;
const LIST_LENGTH = 10;
/** Fragments let a short document be exponentially long; the walk itself ends here. */
const STEPS_MAX = 20_000;
/** Fields that a stranger's introspection may have in its answer, unless it is the standard one. */
const STRANGER_COST_MAX = 5000;

/** One of the selections that make up one level of an operation. */
interface Selected {
  set: SelectionSetNode;
  type: GraphQLNamedType | undefined;
  /** How many objects it is taken of. */
  times: number;
  /** What these are, in an introspection. */
  parts: Parts | undefined;
}

/**
 * Refuses documents that are too deep, too wide, or whose answer could be too large. What strangers introspect is
 * small and has no field twice; the standard introspection never comes here.
 * @returns how many selections the document has with its fragments written out, which is a measure of its memory.
 * @throws {ApiError} saying which limit it is.
 */
export function measure(schema: GraphQLSchema, document: DocumentNode, isStranger: boolean): number {
  checkNesting(document);
  return new Walk(schema, document, isStranger).steps;
}

function checkNesting({ loc }: DocumentNode): void {
  let depth = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) {
    if (token.kind === TokenKind.BRACE_L || token.kind === TokenKind.BRACKET_L) depth++;
    else if (token.kind === TokenKind.BRACE_R || token.kind === TokenKind.BRACKET_R) depth--;
    if (depth > NESTING_MAX) throw tooComplex(`it is more than ${NESTING_MAX} brackets deep`);
  }
}

class Walk {
  readonly #schema: GraphQLSchema;
  readonly #isStranger: boolean;
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #wholeSchema: Parts;
  readonly #used = new Set<FragmentDefinitionNode>();
  steps = 0;
  #repeats = 0;
  /** Of one level. */
  #spreads = 0;
  // Of one operation:
  #rootFields = 0;
  #aliases = 0;
  #cost = 0;

  constructor(schema: GraphQLSchema, { definitions }: DocumentNode, isStranger: boolean) {
    this.#schema = schema;
    this.#isStranger = isStranger;
    this.#wholeSchema = new Parts(schema, new Map([[schema, 1]]));
    for (const definition of definitions)
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
    const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
    if (operations > OPERATIONS_MAX) throw tooComplex(`it has more than ${OPERATIONS_MAX} operations`);
    for (const definition of definitions)
      if (definition.kind === Kind.OPERATION_DEFINITION)
        this.#begin(definition.selectionSet, schema.getRootType(definition.operation) ?? undefined);
    // What no operation uses is a mistake; finding that takes time all the same.
    for (const fragment of this.#fragments.values())
      if (!this.#used.has(fragment)) this.#begin(fragment.selectionSet, this.#typeOf(fragment));
  }

  #begin(set: SelectionSetNode, type: GraphQLNamedType | undefined): void {
    this.#rootFields = this.#aliases = this.#cost = 0;
    this.#level([{ set, type, times: 1, parts: undefined }], 1);
  }

  #level(selected: Selected[], depth: number): void {
    if (depth > DEPTH_MAX) throw tooComplex(`it is more than ${DEPTH_MAX} levels deep`);
    const below = new Map<string, Selected[]>();
    this.#spreads = 0;
    for (const one of selected) this.#collect(one, depth, below, new Set());
    for (const next of below.values()) if (next.length > 0) this.#level(next, depth + 1);
  }

  /** @param open the fragments that this selection is within: other rules report circles. */
  #collect(of: Selected, depth: number, below: Map<string, Selected[]>, open: Set<FragmentDefinitionNode>): void {
    for (const selection of of.set.selections) {
      if (++this.steps > STEPS_MAX) throw tooComplex('its fragments repeat too much');
      if (selection.kind === Kind.FIELD) this.#field(selection, of, depth, below);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        this.#collect(
          { ...of, set: selection.selectionSet, type: this.#typeOf(selection) ?? of.type },
          depth,
          below,
          open,
        );
      else {
        if (++this.#spreads > SPREADS_MAX)
          throw tooComplex(`more than ${SPREADS_MAX} fragments meet in one of its selections`);
        const fragment = this.#fragments.get(selection.name.value);
        if (!fragment || open.has(fragment)) continue;
        this.#used.add(fragment);
        open.add(fragment);
        this.#collect(
          { ...of, set: fragment.selectionSet, type: this.#typeOf(fragment) ?? of.type },
          depth,
          below,
          open,
        );
        open.delete(fragment);
      }
    }
  }

  #field(node: FieldNode, of: Selected, depth: number, below: Map<string, Selected[]>): void {
    const { name, alias, selectionSet: set } = node;
    if (depth === 1 && ++this.#rootFields > ROOT_FIELDS_MAX)
      throw tooComplex(`it has more than ${ROOT_FIELDS_MAX} root fields`);
    if (alias && ++this.#aliases > ALIASES_MAX) throw tooComplex(`it has more than ${ALIASES_MAX} aliases`);

    const key = (alias ?? name).value;
    const beside = below.get(key);
    if (beside && ++this.#repeats > REPEATS_MAX)
      throw tooComplex(`more than ${REPEATS_MAX} of its fields are repeated`);
    const field = fieldOf(of.type, name.value);
    this.#count(of.times, field);
    const isIntrospection = of.parts !== undefined || field === SchemaMetaFieldDef || field === TypeMetaFieldDef;
    if (isIntrospection && this.#isStranger) this.#checkStranger(alias !== undefined || beside !== undefined);

    const next = beside ?? [];
    if (!beside) below.set(key, next);
    if (!set) return;
    const parts = of.parts ? of.parts.shownBy(name.value) : this.#introspected(node, field);
    const times = parts ? parts.count : of.times * (field ? lengthOf(node, field, of.type) : 1);
    next.push({ set, type: field && getNamedType(field.type), times, parts });
  }

  #introspected(node: FieldNode, field: GraphQLField<unknown, unknown> | undefined): Parts | undefined {
    if (field === TypeMetaFieldDef) return typeNamedIn(this.#schema, node);
    return field === SchemaMetaFieldDef ? this.#wholeSchema : undefined;
  }

  #count(times: number, field: GraphQLField<unknown, unknown> | undefined): void {
    const weight = weightOf(field);
    this.#cost += times * weight;
    if (this.#cost <= COST_MAX) return;
    const why = weight > 1 ? ` (${field?.name} counts as ${weight})` : '';
    throw tooComplex(`its answer could have more than ${COST_MAX} fields${why}`);
  }

  #checkStranger(isAgain: boolean): void {
    if (isAgain || this.#cost > STRANGER_COST_MAX)
      throw new ApiError('introspectionNeedsKey', { max: STRANGER_COST_MAX });
  }

  #typeOf({ typeCondition }: { typeCondition?: NamedTypeNode }): GraphQLNamedType | undefined {
    return typeCondition && this.#schema.getType(typeCondition.name.value);
  }
}

function tooComplex(reason: string): ApiError {
  return new ApiError('documentTooComplex', { reason });
}

function fieldOf(type: GraphQLNamedType | undefined, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

/** How many objects a field gives. The rows of a page are counted by its size, not as a list of their own. */
function lengthOf(node: FieldNode, field: GraphQLField<unknown, unknown>, of: GraphQLNamedType | undefined): number {
  const isOwnList = isList(field.type) && !of?.name.endsWith('Connection');
  return pageSize(node, field) ?? (isOwnList ? LIST_LENGTH : 1);
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

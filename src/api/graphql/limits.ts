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
import { argumentWeightOf, COST_MAX, weightOf } from '../builder/field-cost.ts';
import { PAGE_SIZE_MAX } from '../collections/page.ts';
import { ApiError } from '../errors/errors.ts';
import { SchemaParts, typeArgumentParts } from './introspection-size.ts';

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
const ANONYMOUS_COST_MAX = 5000;

/** One of the selections that make up one level of an operation. */
interface SelectedLevel {
  set: SelectionSetNode;
  type: GraphQLNamedType | undefined;
  /** How many objects it is taken of. */
  times: number;
  /** What these are, in an introspection. */
  parts: SchemaParts | undefined;
}

/**
 * Refuses documents that are too deep, too wide, or whose answer could be too large. What strangers introspect is
 * small and has no field twice; the standard introspection never comes here.
 * @returns how many selections the document has with its fragments written out, which is a measure of its memory.
 * @throws {ApiError} saying which limit it is.
 */
export function checkDocumentLimits(schema: GraphQLSchema, document: DocumentNode, isAnonymous: boolean): number {
  checkNesting(document);
  return new DocumentWalk(schema, document, isAnonymous).steps;
}

function checkNesting({ loc }: DocumentNode): void {
  let depth = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) {
    if (token.kind === TokenKind.BRACE_L || token.kind === TokenKind.BRACKET_L) depth++;
    else if (token.kind === TokenKind.BRACE_R || token.kind === TokenKind.BRACKET_R) depth--;
    if (depth > NESTING_MAX) throw tooComplex(`it is more than ${NESTING_MAX} brackets deep`);
  }
}

class DocumentWalk {
  readonly #schema: GraphQLSchema;
  readonly #isAnonymous: boolean;
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #wholeSchema: SchemaParts;
  readonly #used = new Set<FragmentDefinitionNode>();
  steps = 0;
  #repeats = 0;
  /** Of one level. */
  #spreads = 0;
  // Of one operation:
  #rootFields = 0;
  #aliases = 0;
  #cost = 0;

  constructor(schema: GraphQLSchema, { definitions }: DocumentNode, isAnonymous: boolean) {
    this.#schema = schema;
    this.#isAnonymous = isAnonymous;
    this.#wholeSchema = new SchemaParts(schema, new Map([[schema, 1]]));
    for (const definition of definitions)
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(definition.name.value, definition);
    const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
    if (operations > OPERATIONS_MAX) throw tooComplex(`it has more than ${OPERATIONS_MAX} operations`);
    for (const definition of definitions)
      if (definition.kind === Kind.OPERATION_DEFINITION)
        this.#walkOperation(definition.selectionSet, schema.getRootType(definition.operation) ?? undefined);
    // What no operation uses is a mistake; finding that takes time all the same.
    for (const fragment of this.#fragments.values())
      if (!this.#used.has(fragment)) this.#walkOperation(fragment.selectionSet, this.#typeOf(fragment));
  }

  #walkOperation(set: SelectionSetNode, type: GraphQLNamedType | undefined): void {
    this.#rootFields = this.#aliases = this.#cost = 0;
    this.#walkLevel([{ set, type, times: 1, parts: undefined }], 1);
  }

  #walkLevel(selected: SelectedLevel[], depth: number): void {
    if (depth > DEPTH_MAX) throw tooComplex(`it is more than ${DEPTH_MAX} levels deep`);
    const below = new Map<string, SelectedLevel[]>();
    this.#spreads = 0;
    for (const one of selected) this.#collectFields(one, depth, below, new Set());
    for (const next of below.values()) if (next.length > 0) this.#walkLevel(next, depth + 1);
  }

  /** @param open the fragments that this selection is within: other rules report circles. */
  #collectFields(
    of: SelectedLevel,
    depth: number,
    below: Map<string, SelectedLevel[]>,
    open: Set<FragmentDefinitionNode>,
  ): void {
    for (const selection of of.set.selections) {
      if (++this.steps > STEPS_MAX) throw tooComplex('its fragments repeat too much');
      if (selection.kind === Kind.FIELD) this.#addField(selection, of, depth, below);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        this.#collectFields(
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
        this.#collectFields(
          { ...of, set: fragment.selectionSet, type: this.#typeOf(fragment) ?? of.type },
          depth,
          below,
          open,
        );
        open.delete(fragment);
      }
    }
  }

  #addField(node: FieldNode, of: SelectedLevel, depth: number, below: Map<string, SelectedLevel[]>): void {
    const { name, alias, selectionSet: set } = node;
    if (depth === 1 && ++this.#rootFields > ROOT_FIELDS_MAX)
      throw tooComplex(`it has more than ${ROOT_FIELDS_MAX} root fields`);
    if (alias && ++this.#aliases > ALIASES_MAX) throw tooComplex(`it has more than ${ALIASES_MAX} aliases`);

    const key = (alias ?? name).value;
    const beside = below.get(key);
    if (beside && ++this.#repeats > REPEATS_MAX)
      throw tooComplex(`more than ${REPEATS_MAX} of its fields are repeated`);
    const field = fieldOf(of.type, name.value);
    this.#addCost(of.times, weightOf(field) + argumentWeightOf(node, field), name.value);
    const isIntrospection = of.parts !== undefined || field === SchemaMetaFieldDef || field === TypeMetaFieldDef;
    if (isIntrospection && this.#isAnonymous)
      this.#checkAnonymousIntrospection(alias !== undefined || beside !== undefined);

    const next = beside ?? [];
    if (!beside) below.set(key, next);
    if (!set) return;
    const parts = of.parts ? of.parts.selectedBy(name.value) : this.#introspected(node, field);
    const times = parts ? parts.count : of.times * (field ? listLength(node, field, of.type) : 1);
    next.push({ set, type: field && getNamedType(field.type), times, parts });
  }

  #introspected(node: FieldNode, field: GraphQLField<unknown, unknown> | undefined): SchemaParts | undefined {
    if (field === TypeMetaFieldDef) return typeArgumentParts(this.#schema, node);
    return field === SchemaMetaFieldDef ? this.#wholeSchema : undefined;
  }

  #addCost(times: number, weight: number, name: string): void {
    this.#cost += times * weight;
    if (this.#cost <= COST_MAX) return;
    const why = weight > 1 ? ` (${name} counts as ${weight})` : '';
    throw tooComplex(`its answer could have more than ${COST_MAX} fields${why}`);
  }

  #checkAnonymousIntrospection(isRepeated: boolean): void {
    if (isRepeated || this.#cost > ANONYMOUS_COST_MAX)
      throw new ApiError('introspectionNeedsKey', { max: ANONYMOUS_COST_MAX });
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
function listLength(node: FieldNode, field: GraphQLField<unknown, unknown>, of: GraphQLNamedType | undefined): number {
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
function pageSize(
  { arguments: given = [] }: FieldNode,
  { args, type }: GraphQLField<unknown, unknown>,
): number | undefined {
  if (args.some(({ name }) => name === 'ids') && isList(type)) return PAGE_SIZE_MAX;
  if (!args.some(({ name }) => name === 'first')) return undefined;
  const size = given.find(({ name }) => name.value === 'first' || name.value === 'last')?.value;
  return size?.kind === Kind.INT ? Math.min(PAGE_SIZE_MAX, Math.max(1, Number(size.value))) : PAGE_SIZE_MAX;
}

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
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TokenKind,
  TypeMetaFieldDef,
} from 'graphql';
import { argumentWeightOf, COST_MAX, weightOf } from '../builder/field-cost.ts';
import { PAGE_SIZE_MAX } from '../collections/page.ts';
import { ApiError } from '../errors/errors.ts';
import { type CostPart, listReason, OperationCost, weightReason } from './cost-parts.ts';
import { SchemaParts, typeArgumentParts } from './introspection-size.ts';

export const TOKENS_MAX = 2000;
export const DEPTH_MAX = 16;
/** Brackets and braces inside each other: also those of values. */
export const BRACKETS_MAX = 64;
export const OPERATIONS_MAX = 50;
export const ROOT_FIELDS_MAX = 20;
export const ALIASES_MAX = 50;
/**
 * A rule of GraphQL compares each with every other: fields that stand beside one of the same name, and fragments that
 * meet in one selection. So a document may have as many of them as make so many pairs: it takes a few milliseconds, and
 * twenty fragments with fifty fields each, all the same, are within it.
 */
export const COMPARISONS_MAX = 10_000;
export const LIST_LENGTH = 10;
/** Fragments let a short document be exponentially long; the walk itself ends here. */
export const STEPS_MAX = 20_000;
/** Fields that a stranger's introspection may have in its answer, unless it is the standard one. */
export const ANONYMOUS_COST_MAX = 5000;

/** One of the selections that make up one level of an operation. */
interface SelectedLevel {
  set: SelectionSetNode;
  type: GraphQLNamedType | undefined;
  /** How many objects it is taken of. */
  times: number;
  /** What these are, in an introspection. */
  parts: SchemaParts | undefined;
  /** What its fields count to. */
  part: CostPart;
}

/** What stands under one name of one level. */
interface SameName {
  count: number;
  selected: SelectedLevel[];
}

/** What a document is found to be. */
export interface DocumentSize {
  /** How many selections it has with its fragments written out: a measure of its memory. */
  steps: number;
  /** What its operations cost. */
  costs: ReadonlyMap<OperationDefinitionNode, number>;
}

/**
 * Refuses documents that are too deep, too wide, or whose answer could be too large. What strangers introspect is
 * small and has no field twice; the standard introspection never comes here.
 * @throws {ApiError} saying which limit it is.
 */
export function checkDocumentLimits(schema: GraphQLSchema, document: DocumentNode, isAnonymous: boolean): DocumentSize {
  checkNesting(document);
  const { steps, costs } = new DocumentWalk(schema, document, isAnonymous);
  return { steps, costs };
}

function checkNesting({ loc }: DocumentNode): void {
  let depth = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) {
    if (token.kind === TokenKind.BRACE_L || token.kind === TokenKind.BRACKET_L) depth++;
    else if (token.kind === TokenKind.BRACE_R || token.kind === TokenKind.BRACKET_R) depth--;
    if (depth > BRACKETS_MAX) throw tooComplex(`it is more than ${BRACKETS_MAX} brackets deep`);
  }
}

class DocumentWalk {
  readonly #schema: GraphQLSchema;
  readonly #isAnonymous: boolean;
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #wholeSchema: SchemaParts;
  readonly #used = new Set<FragmentDefinitionNode>();
  readonly costs = new Map<OperationDefinitionNode, number>();
  steps = 0;
  #comparisons = 0;
  /** Those that meet in one level. */
  #spread = new Set<FragmentDefinitionNode>();
  // Of one operation:
  #rootFields = 0;
  #aliases = 0;
  #cost = new OperationCost();

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
        this.costs.set(
          definition,
          this.#walkOperation(definition.selectionSet, schema.getRootType(definition.operation) ?? undefined),
        );
    // What no operation uses is a mistake; finding that takes time all the same.
    for (const fragment of this.#fragments.values())
      if (!this.#used.has(fragment)) this.#walkOperation(fragment.selectionSet, this.#typeOf(fragment));
  }

  /** @returns its cost. */
  #walkOperation(set: SelectionSetNode, type: GraphQLNamedType | undefined): number {
    this.#rootFields = this.#aliases = 0;
    const cost = new OperationCost();
    this.#cost = cost;
    this.#walkLevel([{ set, type, times: 1, parts: undefined, part: cost.rest }], 1);
    if (cost.total > COST_MAX)
      throw tooComplex(
        `its answer could have more than ${COST_MAX} fields: it counts as ${cost.total}; ${cost.advice()}`,
      );
    return cost.total;
  }

  #walkLevel(selected: SelectedLevel[], depth: number): void {
    if (depth > DEPTH_MAX) throw tooComplex(`it is more than ${DEPTH_MAX} levels deep`);
    const below = new Map<string, SameName>();
    this.#spread = new Set();
    for (const one of selected) this.#collectFields(one, depth, below, new Set());
    for (const { selected } of below.values()) if (selected.length > 0) this.#walkLevel(selected, depth + 1);
  }

  /** @param open the fragments that this selection is within: other rules report circles. */
  #collectFields(
    of: SelectedLevel,
    depth: number,
    below: Map<string, SameName>,
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
        const fragment = this.#fragments.get(selection.name.value);
        if (!fragment || open.has(fragment)) continue;
        if (!this.#spread.has(fragment)) this.#addComparisons(this.#spread.size);
        this.#spread.add(fragment);
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

  #addField(node: FieldNode, of: SelectedLevel, depth: number, below: Map<string, SameName>): void {
    const { name, alias, selectionSet: set } = node;
    if (depth === 1 && ++this.#rootFields > ROOT_FIELDS_MAX)
      throw tooComplex(`it has more than ${ROOT_FIELDS_MAX} root fields`);
    if (alias && ++this.#aliases > ALIASES_MAX) throw tooComplex(`it has more than ${ALIASES_MAX} aliases`);

    const key = (alias ?? name).value;
    const beside = below.get(key);
    const same = beside ?? { count: 0, selected: [] };
    this.#addComparisons(same.count++);
    if (!beside) below.set(key, same);
    const field = fieldOf(of.type, name.value);
    this.#addCost(of, node, field);
    const isIntrospection = of.parts !== undefined || field === SchemaMetaFieldDef || field === TypeMetaFieldDef;
    if (isIntrospection && this.#isAnonymous)
      this.#checkAnonymousIntrospection(alias !== undefined || beside !== undefined);

    if (!set) return;
    const parts = of.parts ? of.parts.selectedBy(name.value) : this.#introspected(node, field);
    const type = field && getNamedType(field.type);
    if (parts || !field) same.selected.push({ ...of, set, type, times: parts?.count ?? of.times, parts });
    else same.selected.push({ set, type, parts, ...this.#listOf(of, node, field) });
  }

  /** How many objects a field gives, and what their fields count to. */
  #listOf(
    { times, type, part }: SelectedLevel,
    node: FieldNode,
    field: GraphQLField<unknown, unknown>,
  ): { times: number; part: CostPart } {
    const size = listLength(node, field, type);
    if (size === 1) return { times, part };
    const isPage = field.args.some(({ name }) => name === 'first');
    const key = `${node.name.value} ${size} ${isPage}`;
    return { times: times * size, part: this.#cost.part(key, listReason(node, size, isPage)) };
  }

  #addComparisons(count: number): void {
    this.#comparisons += count;
    if (this.#comparisons > COMPARISONS_MAX)
      throw tooComplex(
        `its fields that stand beside one of the same name, and its fragments that meet in one selection, make more than ${COMPARISONS_MAX} ` +
          'pairs: ask for a field once, and spread fewer fragments in one place',
      );
  }

  #introspected(node: FieldNode, field: GraphQLField<unknown, unknown> | undefined): SchemaParts | undefined {
    if (field === TypeMetaFieldDef) return typeArgumentParts(this.#schema, node);
    return field === SchemaMetaFieldDef ? this.#wholeSchema : undefined;
  }

  #addCost({ times, part }: SelectedLevel, node: FieldNode, field: GraphQLField<unknown, unknown> | undefined): void {
    const ofArguments = argumentWeightOf(node, field);
    const weight = weightOf(field) + ofArguments;
    const isHeavy = weight > 1;
    const own = isHeavy
      ? this.#cost.part(`${node.name.value}: ${weight}`, weightReason(node, weight, ofArguments))
      : part;
    this.#cost.add(own, times * weight);
  }

  #checkAnonymousIntrospection(isRepeated: boolean): void {
    if (isRepeated || this.#cost.total > ANONYMOUS_COST_MAX)
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

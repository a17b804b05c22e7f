// What fields weigh in the cost of a document. Resources give their expensive root fields a weight.

import { type FieldNode, type GraphQLField, Kind } from 'graphql';

/** Fields in the response, taking each page to be as long as it may be and every other list to have ten entries. */
export const COST_MAX = 120_000;

/** Of a root field whose work is so large that a document may have it once. */
export const ONCE_PER_DOCUMENT = COST_MAX / 2 + 1;
/** Of a root field that a document may have a few times. */
export const FEW_PER_DOCUMENT = COST_MAX / 10;

/** Of fields of which an answer has few of those that can be asked for: the field above weighs what they do together. */
export const WEIGHED_ABOVE = 0;

/**
 * What arguments of lists weigh that may have the database look at all rows, and those that have it read an index in
 * another order.
 */
export const ARGUMENT_WEIGHTS: Readonly<Record<string, number>> = {
  filter: COST_MAX / 30,
  where: COST_MAX / 30,
  search: COST_MAX / 30,
  orderBy: COST_MAX / 300,
  order: COST_MAX / 300,
};

/** Whether a root field is one that a document may have once. */
export function isHeavyField(field: GraphQLField<unknown, unknown> | undefined): boolean {
  return weightOf(field) >= ONCE_PER_DOCUMENT;
}

/** What the arguments count for by which a list is chosen from. Elsewhere they are of other fields, and weigh nothing. */
export function argumentWeightOf(node: FieldNode, field: GraphQLField<unknown, unknown> | undefined): number {
  if (!field?.args.some(({ name }) => name === 'orderBy')) return 0;
  const given = node.arguments?.filter(({ value }) => value.kind !== Kind.NULL) ?? [];
  return given.reduce((sum, { name }) => sum + (ARGUMENT_WEIGHTS[name.value] ?? 0), 0);
}

/** What a field counts for. */
export function weightOf(field: GraphQLField<unknown, unknown> | undefined): number {
  return (field?.extensions as { weight?: number } | undefined)?.weight ?? 1;
}

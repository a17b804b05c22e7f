// What fields weigh in the cost of a document. Resources give their expensive root fields a weight.

import type { GraphQLField } from 'graphql';

/** Fields in the response, taking each page to be as long as it may be and every other list to have ten entries. */
export const COST_MAX = 90_000;

/** Put on a field as its `extensions`: what it weighs, in fields of an answer. Left out: 1, as a field does. */
export interface FieldWeight {
  weight?: number;
}

/** Of a root field whose work is so large that a document may have it once. */
export const ONCE_PER_DOCUMENT = { weight: COST_MAX / 2 + 1 } satisfies FieldWeight;
/** Of a root field that a document may have a few times. */
export const FEW_PER_DOCUMENT = { weight: COST_MAX / 10 } satisfies FieldWeight;

/** Whether a root field is one that a document may have once. */
export function isHeavyField(field: GraphQLField<unknown, unknown> | undefined): boolean {
  return weightOf(field) >= ONCE_PER_DOCUMENT.weight;
}

/** What a field counts for. */
export function weightOf(field: GraphQLField<unknown, unknown> | undefined): number {
  return (field?.extensions as FieldWeight | undefined)?.weight ?? 1;
}

// What the code generator makes of each operation in a .graphql file.

/** A persisted operation: the server knows its text by its id, so that the text isn't shipped to browsers. */
export interface Operation<Result, Variables> {
  readonly id: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string;
  /** Never there: it only ties the result to the variables for the type checker. */
  readonly types?: (variables: Variables) => Result;
}

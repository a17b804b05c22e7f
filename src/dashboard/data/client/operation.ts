// The type of the operations that the code generator makes of the .graphql files.

/** A persisted operation. The server knows its text by the id, so browsers never download the text. */
export interface Operation<Result, Variables> {
  readonly id: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly name: string;
  /** It never exists at run time: it tells the compiler the types of the result and the variables. */
  readonly types?: (variables: Variables) => Result;
}

// Operations that the gateway asks of its own schema, such as those behind the REST paths.

import { type GraphQLSchema, getOperationAST, parse, validate } from 'graphql';
import { type Operation, prepareOperation } from './operation.ts';

/** By their texts. They depend on nothing but the schema: gateways in one process share them. */
const prepared = new WeakMap<GraphQLSchema, Map<string, Operation>>();

/**
 * Makes the only operation of a document ready to run.
 * @param name what it is for.
 * @throws {Error} that says what is wrong with it, under this name: a start fails then.
 */
export function ownOperation(schema: GraphQLSchema, name: string, source: string): Operation {
  const known = prepared.get(schema) ?? new Map<string, Operation>();
  prepared.set(schema, known);
  const operation = known.get(source) ?? prepare(schema, name, source);
  known.set(source, operation);
  return operation;
}

function prepare(schema: GraphQLSchema, name: string, source: string): Operation {
  const document = parse(source);
  const [mistake] = validate(schema, document);
  const definition = getOperationAST(document);
  if (mistake || !definition) throw new Error(`${name}: ${mistake?.message ?? 'there is no operation'}`);
  return prepareOperation(schema, document, definition);
}

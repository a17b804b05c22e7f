// Operations that the gateway asks of its own schema, such as those behind the REST paths.

import { type GraphQLSchema, getOperationAST, parse, validate } from 'graphql';
import { type PreparedOperation, prepareOperation } from './operation.ts';
import { withPayloads } from './payload-answers.ts';
import { restValues } from './rest-values.ts';

/** By their texts. They depend on nothing but the schema: gateways in one process share them. */
const preparedOperations = new WeakMap<GraphQLSchema, Map<string, PreparedOperation>>();

/**
 * Makes the only operation of a document ready to run, once. It is written, and answers, as if mutations gave their objects alone and
 * objects had what is shown once: see `payload-answers.ts`. Its answer has times and words as REST has them. To prepare it takes a
 * millisecond or two, so it is for when the operation is asked for: a start would prepare hundreds.
 * @param name what it is for.
 * @throws {Error} that says what is wrong with it, under this name.
 */
export function internalOperation(schema: GraphQLSchema, name: string, source: string): PreparedOperation {
  const known = preparedOperations.get(schema) ?? new Map<string, PreparedOperation>();
  preparedOperations.set(schema, known);
  const operation = known.get(source) ?? prepare(schema, name, source);
  known.set(source, operation);
  return operation;
}

function prepare(schema: GraphQLSchema, name: string, source: string): PreparedOperation {
  const { document, answerOf } = withPayloads(schema, parse(source));
  const [mistake] = validate(schema, document);
  const definition = getOperationAST(document);
  if (mistake || !definition) throw new Error(`${name}: ${mistake?.message ?? 'there is no operation'}`);
  const operation = prepareOperation(schema, document, definition);
  const toRest = restValues(schema, document);
  const run: PreparedOperation['run'] = async (variables, context) => {
    const result = await operation.run(variables, context);
    toRest(result.data);
    return answerOf(result);
  };
  return { ...operation, run };
}

// Runs one operation for one caller. REST and both paths of GraphQL come through here.

import { type ExecutionResult, GraphQLString, Kind, valueFromAST } from 'graphql';
import type { Context } from '../context.ts';
import { ApiError } from '../errors/errors.ts';
import { idempotent, idempotentOutsideTransaction } from '../idempotency.ts';
import { InputReader, type InputStyle } from './input.ts';
import type { PreparedOperation } from './operation.ts';

/**
 * @param variables as the client sent them, in the style of REST or GraphQL.
 * @throws {ApiError} when the variables are wrong, or the idempotency key is.
 */
export async function runOperation(
  operation: PreparedOperation,
  variables: Record<string, unknown>,
  context: Context,
  style: InputStyle,
): Promise<ExecutionResult> {
  const values = readVariables(operation, variables, style);
  if (!operation.isHeavy || !context.authenticatedCaller) return runWith(operation, values, context);
  return context.app.heavyOperations.run(context.accountId, () => runWith(operation, values, context));
}

async function runWith(
  operation: PreparedOperation,
  values: Record<string, unknown>,
  context: Context,
): Promise<ExecutionResult> {
  const key = keyOf(operation, values);
  if (key === undefined || !context.authenticatedCaller) return operation.run(values, context);

  const request = JSON.stringify([operation.document.loc?.source.body ?? '', { ...values, idempotencyKey: undefined }]);
  try {
    return await (operation.callsExternalService ? idempotentOutsideTransaction : idempotent)(
      context,
      key,
      request,
      async (within) => {
        const result = await operation.run(values, within);
        if (result.errors) throw new OperationFailed(result);
        return result;
      },
    );
  } catch (error) {
    if (error instanceof OperationFailed) return error.result;
    throw error;
  }
}

function readVariables(
  operation: PreparedOperation,
  given: Record<string, unknown>,
  style: InputStyle,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const reader = new InputReader(style);
  for (const { name, type, hasDefault, place } of operation.variables) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && hasDefault) continue;
    const read = reader.read(type, value, name === 'input' ? '' : name, place);
    if (read !== undefined) values[name] = read;
  }
  reader.throwProblems();
  return values;
}

/** The idempotency key of an operation. @throws {ApiError} when it is not the key of the whole operation. */
function keyOf({ keyedFields, definition }: PreparedOperation, values: Record<string, unknown>): string | undefined {
  const [field] = keyedFields;
  if (!field) return undefined;
  const value = field.arguments?.find(({ name }) => name.value === 'idempotencyKey')?.value;
  const key = value?.kind === Kind.VARIABLE ? values[value.name.value] : value && valueFromAST(value, GraphQLString);
  if (key === undefined || key === null) return undefined;
  const { selections } = definition.selectionSet;
  if (selections.length > 1 || selections[0] !== field) throw new ApiError('keyedMutationAlone');
  return String(key);
}

/** Carries a failed result out of the transaction, which is rolled back. */
class OperationFailed extends Error {
  readonly result: ExecutionResult;

  constructor(result: ExecutionResult) {
    super('The operation failed');
    this.result = result;
  }
}

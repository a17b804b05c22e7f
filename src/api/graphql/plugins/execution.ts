// Runs queries and mutations.

import type { ExecutionArgs, ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ApiError } from '../../errors/errors.ts';
import type { Documents } from '../documents.ts';
import { graphqlInput } from '../input.ts';
import type { RequestContext } from '../request-context.ts';
import { runOperation } from '../run-operation.ts';
import { requestError } from './errors.ts';

export function useExecution(documents: Documents): Plugin<RequestContext> {
  async function execute({ contextValue, operationName, variableValues }: ExecutionArgs): Promise<ExecutionResult> {
    const context = contextValue as RequestContext;
    const { gateway, read, exchange } = context;
    try {
      if (read && 'introspection' in read) return read.introspection.result;
      if (!read || !('known' in read) || !gateway) throw new ApiError('internal');
      const operation = documents.operation(read.known, operationName ?? null);
      if (!operation)
        throw requestError('badDocument', { reason: 'Say with operationName which of its operations to run' });
      context.operation = operation;
      exchange.log.operation = operation.definition.name?.value ?? operation.definition.operation;
      return await runOperation(operation, variableValues ?? {}, gateway, graphqlInput);
    } catch (error) {
      return { errors: [error as ApiError] };
    }
  }
  return { onExecute: ({ setExecuteFn }) => setExecuteFn(execute) };
}

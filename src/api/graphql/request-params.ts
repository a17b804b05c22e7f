// The members of a GraphQL request, whatever carries it.

import { ApiError, NO_PROBLEMS } from '../errors/errors.ts';
import type { RequestParams } from './request-context.ts';

/** GraphQL over HTTP, section 5.2: the members of a request. Others are ignored. @throws {ApiError} naming the one that is wrong. */
export function readParams({
  query,
  documentId,
  variables,
  operationName,
  extensions,
}: Record<string, unknown>): RequestParams {
  const wrong = (member: string, reason: string) => new ApiError('wrongValue', { member, reason }, NO_PROBLEMS);
  const isMap = (value: unknown) => typeof value === 'object' && !Array.isArray(value);
  const isNamed = (documentId !== undefined && documentId !== null) || namesDocument(extensions);
  if (typeof query !== 'string' && !(isNamed && (query === undefined || query === null)))
    throw wrong('query', 'it must be a GraphQL document');
  if (variables !== undefined && !isMap(variables)) throw wrong('variables', 'it must be an object');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string')
    throw wrong('operationName', 'it must be a string');
  if (extensions !== undefined && !isMap(extensions)) throw wrong('extensions', 'it must be an object');
  return { query, documentId, variables, operationName, extensions } as RequestParams;
}

/** Whether the document may be one that was sent before: an automatic persisted query. */
export function namesDocument(extensions: unknown): boolean {
  const { persistedQuery } = (extensions ?? {}) as { persistedQuery?: unknown };
  return persistedQuery !== undefined && persistedQuery !== null;
}

// Documents that a request names by their digest in place of sending them: the dashboard's own operations (GraphQL over
// HTTP, appendix on persisted documents). In a browser session no others run.

import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { ApiExchange } from '../exchange.ts';

/** SHA-256 of a document, in hex → its text. */
export type PersistedDocuments = ReadonlyMap<string, string>;

/** The text of a document that a request names. @throws {ApiError} when there is none. */
export function namedText(persisted: PersistedDocuments, documentId: unknown): string {
  const member = 'documentId';
  const [, digest] = /^sha256:([0-9a-f]{64})$/.exec(String(documentId)) ?? [];
  if (typeof documentId !== 'string' || digest === undefined)
    throw new ApiError('wrongValue', { member, reason: 'it must be "sha256:" and 64 digits in hex' });
  const text = persisted.get(digest);
  if (text === undefined) throw new ApiError('unknownDocument', { member });
  return text;
}

/** @throws {ApiError} when a browser session sent a document of its own. */
export function checkDocument({ knownCaller }: Context, { isPersisted }: ApiExchange): void {
  if (knownCaller?.sessionId !== undefined && !isPersisted) throw new ApiError('documentNotPersisted');
}

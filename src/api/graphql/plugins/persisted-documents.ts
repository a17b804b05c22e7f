// Documents that a request names by their digest in place of sending them: the dashboard's own operations (GraphQL over
// HTTP, appendix on persisted documents). In a browser session no others run.

import type { Plugin } from 'graphql-yoga';
import type { RequestContext, RequestParams } from '../request-context.ts';
import { requestError } from './errors.ts';

/** SHA-256 of a document, in hex → its text. */
export type PersistedDocuments = ReadonlyMap<string, string>;

/** Puts the text of a persisted document in place of its digest. */
export function usePersistedDocuments(documents: PersistedDocuments): Plugin<object, RequestContext> {
  return {
    onParams({ context, params, setParams }) {
      const { documentId, ...others } = params as RequestParams;
      const isPersisted = documentId !== undefined && documentId !== null;
      context.isPersisted = isPersisted;
      if (isPersisted) setParams({ ...others, query: textOf(documents, documentId, params.query) });
      else if (context.gateway?.authenticatedCaller?.sessionId !== undefined)
        throw requestError('documentNotPersisted');
    },
  };
}

function textOf(documents: PersistedDocuments, documentId: unknown, query: unknown): string {
  const member = 'documentId';
  if (query !== undefined && query !== null)
    throw requestError('wrongValue', { member, reason: 'send it or query, not both' });
  const [, digest] = /^sha256:([0-9a-f]{64})$/.exec(String(documentId)) ?? [];
  if (typeof documentId !== 'string' || digest === undefined)
    throw requestError('wrongValue', { member, reason: 'it must be "sha256:" and 64 digits in hex' });
  const text = documents.get(digest);
  if (text === undefined) throw requestError('unknownDocument', { member });
  return text;
}

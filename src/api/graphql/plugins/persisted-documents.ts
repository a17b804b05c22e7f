// Documents that a request names by their digest in place of sending them: the dashboard's own operations and those that the operator
// has registered (GraphQL over HTTP, appendix on persisted documents), and those that clients of an account have sent before (automatic
// persisted queries, as Apollo Client and urql speak them). In a browser session only the former run.

import { createHash } from 'node:crypto';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import type { RequestContext, RequestParams } from '../request-context.ts';
import { requestError } from './errors.ts';

/** SHA-256 of a document, in hex → its text. */
export type PersistedDocuments = ReadonlyMap<string, string>;

/** The texts that are kept for one account, in bytes, and for how many accounts. What is pushed out is sent again. */
const ACCOUNT_BYTES_MAX = 256 * 1024;
const ACCOUNTS_MAX = 100;

/** An entry has a size, also that of an empty text. */
const sizeOf = (text: string) => Buffer.byteLength(text) + 1;

/** Puts the text of a document in place of its digest. */
export function usePersistedDocuments(documents: PersistedDocuments): Plugin<object, RequestContext> {
  const sentBefore = new LRUCache<string, LRUCache<string, string>>({ max: ACCOUNTS_MAX });
  const textsOf = (accountId: string) => {
    const known = sentBefore.get(accountId);
    if (known) return known;
    const texts = new LRUCache<string, string>({ maxSize: ACCOUNT_BYTES_MAX, sizeCalculation: sizeOf });
    sentBefore.set(accountId, texts);
    return texts;
  };
  return {
    onParams({ context, params, setParams }) {
      const { documentId, ...others } = params as RequestParams;
      const caller = context.gateway?.authenticatedCaller;
      const isNamed = documentId !== undefined && documentId !== null;
      context.isPersisted = isNamed;
      if (isNamed) return setParams({ ...others, query: textOf(documents, documentId, params.query) });
      const digest = automaticDigest(params.extensions);
      const registered = digest === undefined ? undefined : documents.get(digest);
      if (registered !== undefined) {
        context.isPersisted = true;
        return setParams({ ...others, query: registered });
      }
      if (caller?.sessionId !== undefined) throw requestError('documentNotPersisted');
      if (digest === undefined) return;
      const query = exchanged(digest, params.query, caller ? textsOf(caller.accountId) : undefined);
      setParams({ ...others, query });
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

/** The digest of an automatic persisted query; undefined where a request is none. */
function automaticDigest(extensions: unknown): string | undefined {
  const { persistedQuery } = (extensions ?? {}) as {
    persistedQuery?: { version?: unknown; sha256Hash?: unknown } | null;
  };
  if (persistedQuery === undefined || persistedQuery === null) return undefined;
  const { version, sha256Hash } = persistedQuery;
  const member = 'extensions.persistedQuery';
  if (version !== 1) throw requestError('wrongValue', { member, reason: 'its version must be 1' });
  if (typeof sha256Hash !== 'string' || !/^[0-9a-f]{64}$/.test(sha256Hash))
    throw requestError('wrongValue', { member, reason: 'its sha256Hash must be 64 digits in lower-case hex' });
  return sha256Hash;
}

/**
 * The document of a digest: the one that comes with it, which is kept, or the one that was kept.
 * @param texts those of the caller's account; undefined for strangers, of whom nothing is kept.
 * @throws {ApiError} when it is not known, or another one.
 */
function exchanged(digest: string, query: unknown, texts: LRUCache<string, string> | undefined): string {
  if (typeof query !== 'string') {
    const known = texts?.get(digest);
    if (known === undefined) throw requestError('persistedQueryNotFound');
    return known;
  }
  if (createHash('sha256').update(query).digest('hex') !== digest)
    throw requestError('wrongValue', {
      member: 'extensions.persistedQuery',
      reason: 'its sha256Hash must be the SHA-256 of query',
    });
  texts?.set(digest, query);
  return query;
}

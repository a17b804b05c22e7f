// Parsing and validation, with the limits on documents. What was read once is kept.

import type { DocumentNode } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { ApiError } from '../../errors/errors.ts';
import type { DocumentOwner, Documents } from '../documents.ts';
import type { RequestContext } from '../request-context.ts';

export function useDocuments(documents: Documents): Plugin<RequestContext> {
  const parse = (source: string, context: RequestContext): DocumentNode => {
    const read = documents.read(source, ownerOf(context));
    context.read = read;
    const document = 'known' in read ? read.known.document : read.document;
    if (!document) throw 'errors' in read ? read.errors[0] : new ApiError('internal');
    return document;
  };
  return {
    onParse: ({ context, setParseFn }) => setParseFn((source: string) => parse(source, context)),
    onValidate({ context: { read }, setResult }) {
      setResult(read && 'errors' in read ? [...read.errors] : []);
    },
  };
}

function ownerOf({ gateway, isPersisted }: RequestContext): DocumentOwner {
  if (isPersisted) return 'gateway';
  const caller = gateway?.knownCaller;
  return caller ? { accountId: caller.accountId } : 'stranger';
}

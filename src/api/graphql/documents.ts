// GraphQL documents, parsed and checked once.

import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { IntrospectionCache, type IntrospectionResponse } from './introspection.ts';
import { checkDocumentLimits, TOKENS_MAX } from './limits.ts';
import { withLiteralProblems } from './literal-problems.ts';
import { type PreparedOperation, prepareOperation } from './operation.ts';

/** How many documents are kept for one account, in selections with fragments written out and in tokens. */
const ACCOUNT_SIZE_MAX = 40_000;
/** For how many accounts documents are kept. */
const ACCOUNTS_MAX = 100;
/** Larger documents are not compiled. */
const COMPILED_SIZE_MAX = 4000;
const ERRORS_MAX = 5;

/** Whose document it is: an account's, the gateway's own (of its dashboard), or a stranger's, who has none kept. */
export type DocumentOwner = { accountId: string } | 'gateway' | 'stranger';

/** A document that is in order, with those of its operations that were asked for. */
export interface ValidDocument {
  document: DocumentNode;
  /** Its tokens, and its selections with fragments written out. */
  size: number;
  costs: ReadonlyMap<OperationDefinitionNode, number>;
  operations: Map<string | null, PreparedOperation>;
}

/** Documents by their texts. */
interface DocumentCache {
  get(source: string): ValidDocument | undefined;
  set(source: string, document: ValidDocument): unknown;
}

/** What became of a document's text. */
export type ReadResult =
  | { valid: ValidDocument }
  | { document: DocumentNode; introspection: IntrospectionResponse }
  /** The document is left out when not even that could be read. */
  | { document: DocumentNode | undefined; errors: readonly GraphQLError[] };

/**
 * Documents by their text, one for the whole gateway. Those of each account have a share of their own, which no other
 * account's push out; the gateway's own stay. What is wrong is not kept.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #introspection: IntrospectionCache;
  readonly #gatewayDocuments = new Map<string, ValidDocument>();
  readonly #accountCaches = new LRUCache<string, LRUCache<string, ValidDocument>>({ max: ACCOUNTS_MAX });

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    this.#introspection = new IntrospectionCache(schema);
  }

  /** Reads a document: its size is looked at first, and alone; then come GraphQL's rules. */
  read(source: string, owner: DocumentOwner): ReadResult {
    const cache = this.#cacheOf(owner);
    const known = cache?.get(source);
    if (known) return { valid: known };
    let document: DocumentNode | undefined;
    try {
      document = parse(source, { maxTokens: TOKENS_MAX });
      const introspection = this.#introspection.responseTo(document);
      if (introspection) return { document, introspection };
      const { steps, costs } = checkDocumentLimits(this.#schema, document, owner === 'stranger');
      const errors = validate(this.#schema, document, specifiedRules, { maxErrors: ERRORS_MAX });
      if (errors.length > 0) return { document, errors: withLiteralProblems(this.#schema, document, errors) };
      const read = { document, size: steps + (document.tokenCount ?? TOKENS_MAX), costs, operations: new Map() };
      cache?.set(source, read);
      return { valid: read };
    } catch (error) {
      if (error instanceof GraphQLError) return { document, errors: [error] };
      throw error;
    }
  }

  /** One operation of a document. @param name which; null where there is but one. @returns undefined for none of it. */
  operation({ document, size, operations }: ValidDocument, name: string | null): PreparedOperation | undefined {
    const known = operations.get(name);
    if (known) return known;
    const definition = getOperationAST(document, name);
    if (!definition) return undefined;
    const operation = prepareOperation(this.#schema, document, definition, size <= COMPILED_SIZE_MAX);
    operations.set(name, operation);
    return operation;
  }

  #cacheOf(owner: DocumentOwner): DocumentCache | undefined {
    if (owner === 'gateway') return this.#gatewayDocuments;
    if (owner === 'stranger') return undefined;
    const known = this.#accountCaches.get(owner.accountId);
    if (known) return known;
    const cache = new LRUCache<string, ValidDocument>({
      maxSize: ACCOUNT_SIZE_MAX,
      sizeCalculation: ({ size }) => size,
    });
    this.#accountCaches.set(owner.accountId, cache);
    return cache;
  }
}

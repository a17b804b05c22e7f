// GraphQL documents, made ready to run. What is parsed, checked and compiled once is kept.

import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  typeFromAST,
  validate,
  visit,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { ApiExchange } from '../exchange.ts';
import { isHeavyField } from '../field-cost.ts';
import { Introspection, type IntrospectionAnswer } from './introspection.ts';
import { measure, TOKENS_MAX } from './limits.ts';

/** How many documents are kept for one account, in selections with fragments written out and in tokens. */
const ACCOUNT_SIZE_MAX = 40_000;
/** For how many accounts documents are kept. */
const ACCOUNTS_MAX = 100;
/** Compiling costs milliseconds: only a document that comes again is worth it, and one that is not too large. */
const USES_BEFORE_COMPILING = 3;
const COMPILED_SIZE_MAX = 4000;
const ERRORS_MAX = 5;

export interface Variable {
  name: string;
  type: GraphQLInputType;
  hasDefault: boolean;
}

/** One operation of a valid document. */
export interface Operation {
  definition: OperationDefinitionNode;
  document: DocumentNode;
  variables: Variable[];
  /** The root fields with an `idempotencyKey`; anything but one such field, alone, is refused. */
  keyedFields: FieldNode[];
  /** Whether a field of it weighs so much that an account's are run a few at a time. */
  isHeavy: boolean;
  /** Whether its answers may show secrets beside what others wrote: those are not compressed. */
  holdsSecrets: boolean;
  /** Whether one of these waits for somebody else's answer: no transaction may be open meanwhile. */
  awaitsOthers: boolean;
  run(variables: Record<string, unknown>, context: Context): Promise<ExecutionResult>;
}

/** Whose document it is: an account's, the gateway's own (of its dashboard), or a stranger's, who has none kept. */
export type DocumentOwner = { accountId: string } | 'gateway' | 'stranger';

/** Whose a request's document is. */
export function ownerOf({ knownCaller }: Context, { isPersisted }: ApiExchange): DocumentOwner {
  if (isPersisted) return 'gateway';
  return knownCaller ? { accountId: knownCaller.accountId } : 'stranger';
}

/** A document that is in order, with those of its operations that were asked for. */
export interface Document {
  document: DocumentNode;
  /** Its tokens, and its selections with fragments written out. */
  size: number;
  operations: Map<string | null, Operation>;
}

/** Documents by their texts. */
interface Kept {
  get(source: string): Document | undefined;
  set(source: string, document: Document): unknown;
}

/** What became of a document's text. */
export type Read =
  | { known: Document }
  | { document: DocumentNode; introspection: IntrospectionAnswer }
  /** The document is left out when not even that could be read. */
  | { document: DocumentNode | undefined; errors: readonly GraphQLError[] };

/**
 * Documents by their text, one for the whole gateway. Those of each account have a share of their own, which no other
 * account's push out; the gateway's own stay. What is wrong is not kept.
 */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #introspection: Introspection;
  readonly #own = new Map<string, Document>();
  readonly #ofAccounts = new LRUCache<string, LRUCache<string, Document>>({ max: ACCOUNTS_MAX });

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
    this.#introspection = new Introspection(schema);
  }

  /** Reads a document: its size is looked at first, and alone; then come GraphQL's rules. */
  read(source: string, owner: DocumentOwner): Read {
    const kept = this.#keptFor(owner);
    const known = kept?.get(source);
    if (known) return { known };
    let document: DocumentNode | undefined;
    try {
      document = parse(source, { maxTokens: TOKENS_MAX });
      const introspection = this.#introspection.answer(document);
      if (introspection) return { document, introspection };
      const steps = measure(this.#schema, document, owner === 'stranger');
      const errors = validate(this.#schema, document, specifiedRules, { maxErrors: ERRORS_MAX });
      if (errors.length > 0) return { document, errors };
      const read = { document, size: steps + (document.tokenCount ?? TOKENS_MAX), operations: new Map() };
      kept?.set(source, read);
      return { known: read };
    } catch (error) {
      if (error instanceof GraphQLError) return { document, errors: [error] };
      throw error;
    }
  }

  /** One operation of a document. @param name which; null where there is but one. @throws {ApiError} for none of it. */
  operation({ document, size, operations }: Document, name: string | null): Operation {
    const known = operations.get(name);
    if (known) return known;
    const definition = getOperationAST(document, name);
    if (!definition)
      throw new ApiError('badDocument', { reason: 'Say with operationName which of its operations to run' });
    const operation = prepareOperation(this.#schema, document, definition, size <= COMPILED_SIZE_MAX);
    operations.set(name, operation);
    return operation;
  }

  #keptFor(owner: DocumentOwner): Kept | undefined {
    if (owner === 'gateway') return this.#own;
    if (owner === 'stranger') return undefined;
    const known = this.#ofAccounts.get(owner.accountId);
    if (known) return known;
    const kept = new LRUCache<string, Document>({ maxSize: ACCOUNT_SIZE_MAX, sizeCalculation: ({ size }) => size });
    this.#ofAccounts.set(owner.accountId, kept);
    return kept;
  }
}

/** @param isCompiled whether to compile it when it comes again. */
export function prepareOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  definition: OperationDefinitionNode,
  isCompiled = true,
): Operation {
  let uses = 0;
  let compiled: CompiledQuery | undefined;
  const keyed = keyedFields(document);
  const mutations = schema.getMutationType()?.getFields();
  return {
    definition,
    document,
    variables: (definition.variableDefinitions ?? []).flatMap(({ variable, type, defaultValue }) => {
      const inputType = typeFromAST(schema, type as never) as GraphQLInputType | undefined;
      return inputType ? [{ name: variable.name.value, type: inputType, hasDefault: defaultValue !== undefined }] : [];
    }),
    keyedFields: keyed,
    isHeavy: hasHeavyField(schema, document),
    holdsSecrets: holdsSecrets(document, definition),
    awaitsOthers: keyed.some(({ name }) => mutations?.[name.value]?.extensions.awaitsOthers === true),
    async run(variables, context) {
      if (isCompiled && !compiled && ++uses >= USES_BEFORE_COMPILING) {
        const result = compileQuery(schema, document, definition.name?.value);
        if (isCompiledQuery(result)) compiled = result;
      }
      if (compiled) return located(await compiled.query({}, context, variables), document);
      return execute({
        schema,
        document,
        operationName: definition.name?.value,
        variableValues: variables,
        contextValue: context,
      }) as Promise<ExecutionResult>;
    },
  };
}

/** Errors of compiled documents name lines and columns alone: who makes other errors of them needs the source, too. */
function located(result: ExecutionResult, { loc }: DocumentNode): ExecutionResult {
  const source = loc?.source;
  if (!result.errors || !source) return result;
  const starts = [0, ...[...source.body.matchAll(/\r\n|[\n\r]/g)].map(({ 0: end, index }) => index + end.length)];
  const errors = result.errors.map((error) => {
    const { message, locations = [], path, originalError, extensions } = error;
    const positions = locations.map(({ line, column }) => (starts[line - 1] ?? 0) + column - 1);
    return new GraphQLError(message, { source, positions, path, originalError, extensions });
  });
  return { ...result, errors };
}

/**
 * The length of a compressed body tells of its contents (BREACH). Changes show tokens, and captured requests have the
 * credentials of visitors beside what others wrote.
 */
function holdsSecrets(document: DocumentNode, { operation }: OperationDefinitionNode): boolean {
  return operation !== 'query' || /capturedRequest/.test(document.loc?.source.body ?? '');
}

function keyedFields(document: DocumentNode): FieldNode[] {
  const found: FieldNode[] = [];
  visit(document, {
    Field(field) {
      if (field.arguments?.some(({ name }) => name.value === 'idempotencyKey')) found.push(field);
    },
  });
  return found;
}

/** Root fields may stand in fragments, too. */
function hasHeavyField(schema: GraphQLSchema, document: DocumentNode): boolean {
  const roots = [schema.getQueryType(), schema.getMutationType()];
  let isHeavy = false;
  visit(document, {
    Field({ name }) {
      if (roots.some((root) => isHeavyField(root?.getFields()[name.value]))) isHeavy = true;
    },
  });
  return isHeavy;
}
